package floor

import "strings"

// Columns returns the columns of the benchmark's rows, in the order of a Row.
func Columns() []string {
	return []string{"id", "active", "plan", "replicas", "url", "region", "image", "tier", "dbhost", "loglevel", "storage"}
}

// Row is one row, in the order of Columns.
type Row [11]string

// The columns of a Row.
const (
	id = iota
	active
	plan
	replicas
	url
	region
	image
	tier
	dbhost
	loglevel
	storage
)

// Append appends the five objects of a row.
func Append(b []byte, r *Row) []byte {
	level := r[loglevel]
	if level == "" {
		level = "info"
	}
	host := strings.TrimPrefix(r[url], "https://")
	b = appendConfig(b, r, level)
	b = appendClaim(b, r)
	b = appendDeployment(b, r, level)
	b = appendService(b, r)
	return appendIngress(b, r, host)
}

func appendConfig(b []byte, r *Row, level string) []byte {
	b = append(b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "...)
	b = append(b, r[id]...)
	b = append(b, "-config\n  namespace: tenants\n  labels:\n    lynq.sh/hub: crm\n"+
		"  annotations:\n    lynq.sh/deletion-policy: Delete\n    lynq.sh/resource-id: config\n"+
		"data:\n  region: "...)
	b = append(b, r[region]...)
	b = append(b, "\n  app.conf: |\n    log_level = "...)
	b = append(b, level...)
	b = append(b, "\n    tenant = "...)
	b = append(b, r[id]...)
	b = append(b, "\n    database = "...)
	b = append(b, r[dbhost]...)
	return append(b, ":5432\n"...)
}

func appendClaim(b []byte, r *Row) []byte {
	b = append(b, "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: "...)
	b = append(b, r[id]...)
	b = append(b, "-data\n  namespace: tenants\n  labels:\n    lynq.sh/hub: crm\n    lynq.sh/node: "...)
	b = append(b, r[id]...)
	b = append(b, "-web\n    lynq.sh/node-namespace: tenants\n"+
		"  annotations:\n    lynq.sh/created-once: \"true\"\n    lynq.sh/deletion-policy: Retain\n    lynq.sh/resource-id: data\n"+
		"spec:\n  accessModes:\n  - ReadWriteOnce\n  storageClassName: "...)
	b = append(b, r[tier]...)
	b = append(b, "\n  resources:\n    requests:\n      storage: "...)
	b = append(b, r[storage]...)
	return append(b, '\n')
}

func appendDeployment(b []byte, r *Row, level string) []byte {
	b = append(b, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: "...)
	b = append(b, r[id]...)
	b = append(b, "-app\n  namespace: tenants\n  labels:\n    app: "...)
	b = append(b, r[id]...)
	b = append(b, "\n    lynq.sh/hub: crm\n"+
		"  annotations:\n    lynq.sh/deletion-policy: Delete\n    lynq.sh/resource-id: app\n"+
		"spec:\n  replicas: "...)
	b = append(b, r[replicas]...)
	b = append(b, "\n  selector:\n    matchLabels:\n      app: "...)
	b = append(b, r[id]...)
	b = append(b, "\n  template:\n    metadata:\n      labels:\n        app: "...)
	b = append(b, r[id]...)
	b = append(b, "\n    spec:\n      containers:\n      - name: app\n        image: "...)
	b = append(b, r[image]...)
	b = append(b, "\n        ports:\n        - name: http\n          containerPort: 8080\n"+
		"        env:\n        - name: TENANT\n          value: "...)
	b = append(b, r[id]...)
	b = append(b, "\n        - name: REGION\n          value: "...)
	b = append(b, r[region]...)
	b = append(b, "\n        - name: DATABASE_URL\n          value: postgres://"...)
	b = append(b, r[dbhost]...)
	b = append(b, '/')
	b = append(b, r[id]...)
	b = append(b, "\n        - name: LOG_LEVEL\n          value: "...)
	b = append(b, level...)
	b = append(b, "\n        - name: PLAN\n          value: "...)
	b = append(b, r[plan]...)
	b = append(b, "\n        - name: PUBLIC_URL\n          value: "...)
	b = append(b, r[url]...)
	b = append(b, "\n        resources:\n          requests:\n            cpu: 100m\n          limits:\n            memory: 256Mi\n"+
		"        volumeMounts:\n        - name: data\n          mountPath: /var/lib/app\n"+
		"      volumes:\n      - name: data\n        persistentVolumeClaim:\n          claimName: "...)
	b = append(b, r[id]...)
	return append(b, "-data\n"...)
}

func appendService(b []byte, r *Row) []byte {
	b = append(b, "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: "...)
	b = append(b, r[id]...)
	b = append(b, "-app\n  namespace: tenants\n  labels:\n    lynq.sh/hub: crm\n"+
		"  annotations:\n    lynq.sh/deletion-policy: Delete\n    lynq.sh/resource-id: svc\n"+
		"spec:\n  selector:\n    app: "...)
	b = append(b, r[id]...)
	return append(b, "\n  ports:\n  - name: http\n    port: 80\n    targetPort: http\n"...)
}

func appendIngress(b []byte, r *Row, host string) []byte {
	b = append(b, "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: "...)
	b = append(b, r[id]...)
	b = append(b, "-app\n  namespace: tenants\n  labels:\n    lynq.sh/hub: crm\n"+
		"  annotations:\n    lynq.sh/deletion-policy: Delete\n    lynq.sh/resource-id: ing\n"+
		"spec:\n  ingressClassName: nginx\n  rules:\n  - host: "...)
	b = append(b, host...)
	b = append(b, "\n    http:\n      paths:\n      - path: /\n        pathType: Prefix\n        backend:\n          service:\n            name: "...)
	b = append(b, r[id]...)
	return append(b, "-app\n            port:\n              name: http\n"...)
}
