-- What tenants.db holds. Make it again with: sqlite3 tenants.db < tenants.sql
CREATE TABLE tenants (
  id       TEXT PRIMARY KEY,
  active   BOOLEAN NOT NULL,
  plan     TEXT NOT NULL,
  replicas INTEGER NOT NULL,
  url      TEXT NOT NULL,
  motd     TEXT
);
INSERT INTO tenants VALUES
  ('acme',    1, 'gold',  2, 'https://acme.example.com',    'Welcome to Acme'),
  ('globex',  1, 'basic', 1, 'https://globex.example.com',  NULL),
  ('initech', 0, 'basic', 1, 'https://initech.example.com', 'Gone fishing');
