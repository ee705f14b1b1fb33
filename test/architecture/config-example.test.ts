import { readFileSync } from 'node:fs';
import t from 'tap';
import { checkConfig, exampleFile, options } from '../../src/config/index.ts';

const written = readFileSync(new URL('../../config.example.toml', import.meta.url), 'utf8');

t.test(
  'config.example.toml is what the options table says: bin/hearth config example > config.example.toml',
  async (t) => {
    t.equal(written, exampleFile());
  },
);

t.test('every line of the example works when uncommented, and none changes a default', async (t) => {
  const toml = written.replace(/^#(?=[a-z_]+ = )/gm, '');
  const sources = (files: Record<string, string>) => ({
    env: {},
    cwd: '/srv',
    readFile(path: string): string {
      const content = files[path];
      if (content === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' });
      return content;
    },
  });
  const { problems, loaded } = checkConfig(sources({ '/srv/hearth.toml': toml }));
  t.same(problems, []);
  t.same([...(loaded?.file?.values.keys() ?? [])].sort(), options.map((option) => option.key).sort());
  const defaults = checkConfig(sources({})).loaded!.config;
  const { baseUrl, caFile, git, ssh, federation, memory, metrics, mail, objects, database, updates, proxy, ...same } =
    loaded!.config;
  t.match(defaults, same);
  t.match(defaults, {
    database: { ...database, url: null },
    git: { ...git, cacheBytes: null },
    ssh: { enabled: ssh.enabled, listen: ssh.listen },
    federation: { ...federation, baseUrl: null },
    proxy: { ...proxy, sendFiles: null },
    mail: { ...mail, host: null, port: null, user: null, password: null, passwordFile: null, from: null },
  });
  t.equal(baseUrl, 'https://git.example.org');
  t.equal(caFile, '/etc/ssl/private-authority.pem');
  t.equal(updates.signers, '/etc/hearth/allowed_signers');
  t.match(updates.url, /^https:/);
  t.equal(metrics.token, 'a long random text');
  t.equal(memory.cachesBytes, 24 * 1024 * 1024);
});

t.test('an option has one key, one environment name built from it, and one sentence', async (t) => {
  // SPEC §1 fixes this name; all others follow the key.
  const exceptions = new Map([['repositories.image_root', 'SERVICE_REPO_IMAGE_ROOT']]);
  for (const { key, env, sentence } of options) {
    t.equal(env, exceptions.get(key) ?? `SERVICE_${key.replace('.', '_').toUpperCase()}`, key);
    t.match(key, /^([a-z]+\.)?[a-z_]+$/);
    t.match(sentence, /^[A-Z][^\n]*\.$|^json/);
  }
  t.equal(new Set(options.map((option) => option.env)).size, options.length);
});

t.test('SPEC §1 the names that others rely on exist', async (t) => {
  const names = options.map((option) => option.env as string);
  for (const name of [
    'SERVICE_FEDERATION_ENABLED',
    'SERVICE_FEDERATION_BASE_URL',
    'SERVICE_FEDERATION_PEER_ALLOWLIST',
    'SERVICE_FEDERATION_MAX_ATTEMPTS',
    'SERVICE_FEDERATION_USER_RESYNC_INTERVAL',
    'SERVICE_FEDERATION_DEV_ALLOW_INSECURE',
    'SERVICE_REPO_IMAGE_ROOT',
    'SERVICE_DATA_DIR',
    'SERVICE_HTTP_LISTEN',
    'SERVICE_SSH_LISTEN',
    'SERVICE_GRPC_LISTEN',
    'SERVICE_BASE_URL',
  ])
    t.ok(names.includes(name), name);
});
