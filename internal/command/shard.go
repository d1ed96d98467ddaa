package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/incluster"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// shardFlags are the flags of shard.
type shardFlags struct {
	incluster.ShardOptions
	apply cmdflags.Apply
	count int
}

func shardCommand(a *app) *cobra.Command {
	f := shardFlags{apply: cmdflags.NewApply()}
	f.apply.Render.Options.Nothing = "nothing was printed"
	cmd := &cobra.Command{
		Use:   "shard -f PATH... --shards COUNT",
		Short: "Print a Job that applies your forms in shards",
		Long: `Print the manifests that run apply in the cluster as an Indexed Job, one pod for
each shard: Job, ServiceAccount, roles, and ConfigMaps with your files. With
--schedule, it is a CronJob. The pods get the flags of apply that you pass.

If some nodes of a shard fail, the Job runs this shard again. A Job runs once.
Before you apply it again, delete it with kubectl.

Exit codes:
  0    success
  2    invalid input or usage, or an unknown kind; nothing was printed
  130  interrupted`,
		Example: `  # Apply in 16 shards
  lynqctl shard -f forms/ --shards 16 | kubectl apply --server-side -f -

  # Apply every night, 4 shards at a time
  lynqctl shard -f forms/ --shards 16 --parallelism 4 --schedule '0 3 * * *'`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.shard(cmd.Context(), &f, cmd.Flags()) },
	}
	flags := cmd.Flags()
	f.apply.Render.RegisterCluster(flags)
	f.apply.Run.RegisterPace(flags)
	f.apply.RegisterGuards(flags)
	flags.BoolVar(&f.apply.Given.Wait, "wait", f.apply.Given.Wait, "wait until objects are ready")
	cmdflags.RegisterNoFinalizer(flags, &f.apply.Given.NoFinalizer)
	f.apply.RegisterRecordValues(flags)
	flags.IntVar(&f.count, "shards", 0, "number of shards (required)")
	flags.IntVar(&f.Parallelism, "parallelism", 0, "number of shards that run at a time (0 means all)")
	flags.StringVar(&f.Schedule, "schedule", "", "print a CronJob with this schedule, for example '0 3 * * *'")
	flags.StringVar(&f.Job, "job", "", "NAMESPACE/NAME of the Job (default: the hubs' namespace, and lynqctl-HUB-shards)")
	flags.StringVar(&f.Image, "image", "", "container image (default: this release)")
	return cmd
}

// shard runs the command.
func (a *app) shard(ctx context.Context, f *shardFlags, flags *pflag.FlagSet) error {
	if !flags.Changed("shards") {
		return session.BadUsage(errors.New("--shards COUNT is missing"))
	}
	if err := f.apply.Render.InShards(f.count); err != nil {
		return err
	}
	o, err := f.apply.Options()
	if err != nil {
		return err
	}
	f.Apply, f.Args = *o, cmdflags.PodArgs(flags, []string{"shards", "parallelism", "schedule", "job", "image"})
	text, err := incluster.Shards(ctx, a.Engine(""), &f.ShardOptions)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Out(), text)
	return session.Fail(err)
}
