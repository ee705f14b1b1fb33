// The files that start several servers: each setting in them is one, and what has to be equal on all servers is.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
const read = (name: string) => readFileSync(new URL(`../../packaging/${name}`, import.meta.url), 'utf8');

async function settingsOf(environment: Record<string, string>): Promise<Map<string, unknown>> {
  const env = { SERVICE_DATA_DIR: path.join(folder, 'data'), ...environment };
  const { code, stdout, stderr } = await runCli(['config', 'show', '--json'], { cwd: folder, env });
  if (code !== 0) throw new Error(stderr);
  return new Map((JSON.parse(stdout) as { key: string; value: unknown }[]).map(({ key, value }) => [key, value]));
}

t.test('the compose file', async (t) => {
  interface Service {
    environment?: Record<string, string>;
    entrypoint?: string[];
    secrets?: string[];
    volumes?: string[];
    command?: string;
  }
  const text = read('cluster-compose.yaml');
  const { services, volumes, secrets } = parse(text, { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, null>;
    secrets: Record<string, { file: string }>;
  };
  const { 'hearth-a': a, 'hearth-b': b, proxy, postgres, store } = services;
  t.strictSame(b?.environment, a?.environment);
  t.strictSame([a?.secrets, b?.secrets], [Object.keys(secrets), Object.keys(secrets)]);
  t.notSame(b?.volumes, a?.volumes, 'each has a disk of its own');
  t.strictSame(
    Object.values(services)
      .flatMap((service) => service.volumes ?? [])
      .map((volume) => volume.split(':')[0])
      .sort(),
    Object.keys(volumes).sort(),
  );
  for (const name of ['hearth-a:3000', 'hearth-b:3000']) t.match(proxy?.command, name);
  const settings = await settingsOf(a?.environment ?? {});
  t.equal(settings.get('instance_key_file'), `/run/secrets/${a?.secrets?.[0]}`);
  t.equal(settings.get('git.storage'), 'store');
  t.equal(settings.get('objects.endpoint'), 'http://store:7070');
  t.equal(settings.get('objects.bucket'), 'hearth');
  t.match(store?.entrypoint?.at(-1), /mkdir -p \/data\/hearth;.*--port :7070 posix \/data$/);
  t.equal(store?.environment?.['ROOT_SECRET_KEY'], a?.environment?.['SERVICE_OBJECTS_SECRET_ACCESS_KEY']);
  t.match(a?.environment?.['SERVICE_DATABASE_URL'], `:${postgres?.environment?.['POSTGRES_PASSWORD']}@postgres/hearth`);
  for (const [, name] of text.matchAll(/\$\{(\w+)\}/g)) t.match(text, new RegExp(`^#   printf .*${name}=%s`, 'm'));
});

t.test('the manifest for Kubernetes', async (t) => {
  interface Resource {
    kind: string;
    spec: {
      replicas: number;
      template: {
        spec: {
          containers: { env: { name: string; value: string }[]; volumeMounts: { name: string; mountPath: string }[] }[];
          volumes: Record<string, unknown>[];
        };
      };
    };
  }
  const text = read('kubernetes-cluster.yaml');
  const all = parseAllDocuments(text).map((document) => document.toJS() as Resource);
  t.strictSame(
    all.map(({ kind }) => kind),
    ['Service', 'PodDisruptionBudget', 'Deployment'],
  );
  const { replicas, template } = all[2]!.spec;
  t.equal(replicas, 3);
  t.notMatch(text, /persistentVolumeClaim|volumeClaimTemplates/);
  const [container] = template.spec.containers;
  const given = Object.fromEntries(
    [...text.matchAll(/--from-literal=(SERVICE_\w+)='?([^\s']+)'?/g)].map(([, name, value]) => [name, value!]),
  );
  const settings = await settingsOf({
    ...given,
    ...Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value])),
  });
  t.match(Object.fromEntries(settings), {
    base_url: 'https://git.example.org',
    'git.storage': 'store',
    'objects.store': 's3',
    'objects.bucket': 'hearth',
    'ssh.enabled': false,
  });
  t.equal(settings.get('instance_key_file'), '/key/instance.key');
  t.match(
    container?.volumeMounts.map(({ name, mountPath }) => [name, mountPath]),
    [
      ['cache', '/data'],
      ['tmp', '/tmp'],
      ['key', '/key'],
    ],
  );
  const mounted = container?.volumeMounts.map(({ name }) => name);
  t.strictSame(
    template.spec.volumes.map(({ name }) => name),
    mounted,
  );
});
