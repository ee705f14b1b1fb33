import t from 'tap';
import {
  checkConfig,
  configValue,
  federationObstacles,
  formatAddress,
  loadConfig,
  options,
  searchPaths,
} from '../../src/config/index.ts';
import type { Config, Problem } from '../../src/config/index.ts';
import { locateTomlKeys } from '../../src/config/locate-toml-keys.ts';
import { nearestName } from '../../src/config/nearest-name.ts';
import { text } from '../../src/config/option-types.ts';
import { resolveOptions } from '../../src/config/resolve-options.ts';
import { isDomainError } from '../../src/kernel/index.ts';

type ConfigInputs = {
  env?: Record<string, string>;
  files?: Record<string, string>;
  flags?: Record<string, string>;
  configPath?: string;
};

/** Sources from a fake environment and disk; the working folder is /srv. */
function sources({ env = {}, files = {}, flags = {}, configPath }: ConfigInputs) {
  return {
    env,
    cwd: '/srv',
    argvOverrides: flags,
    configPath,
    readFile(path: string): string {
      const content = files[path];
      if (content === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' });
      return content;
    },
  };
}

function load(inputs: ConfigInputs): Config {
  return loadConfig(sources(inputs)).config;
}

function problems(inputs: ConfigInputs): readonly Problem[] {
  return checkConfig(sources(inputs)).problems;
}

/** The one problem of a file that is expected to have just one. */
function problemIn(toml: string): Problem {
  const found = problems({ files: { '/srv/hearth.toml': toml } });
  if (found.length !== 1) throw new Error(`expected one problem, found ${JSON.stringify(found)}`);
  return found[0]!;
}

t.test('without any setting all defaults hold and paths are absolute', async (t) => {
  const config = load({});
  t.equal(config.dataDir, '/srv/data');
  t.equal(config.storage.root, '/srv/data/repositories');
  t.equal(config.repositories.imageRoot, '/srv/data/repo-images', 'SPEC §1: data/repo-images');
  t.equal(config.baseUrl, null);
  t.same(config.http.listen, { host: '0.0.0.0', port: 3000 });
  t.same(config.ssh, {
    enabled: true,
    listen: { host: '0.0.0.0', port: 2222 },
    publicHost: null,
    publicPort: null,
    systemSshd: false,
  });
  t.same(config.grpc.listen, { host: '0.0.0.0', port: 3001 });
  t.same(config.proxy.trusted, ['loopback']);
  t.equal(config.storage.lowDiskFloorBytes, 512 * 1024 * 1024);
  t.same(
    config.federation,
    {
      enabled: false,
      baseUrl: null,
      peerAllowlist: [],
      openFollowers: false,
      openFollowersPerHost: 10_000,
      openFollowersTotal: 100_000,
      copyMaxSizeBytes: 5 * 1024 ** 3,
      copyUserQuotaBytes: 20 * 1024 ** 3,
      copyTotalQuotaBytes: 100 * 1024 ** 3,
      copyGraceMs: 7 * 86_400_000,
      maxAttempts: 8,
      userResyncIntervalMs: 300_000,
      devAllowInsecure: false,
    },
    'SPEC §1',
  );
});

t.test('every default passes the check of its own type', async (t) => {
  for (const option of options) {
    const value = option.default ?? ('example' in option ? option.example : '');
    if (typeof value === 'object' && 'belowDataDir' in value) continue;
    t.not(option.type.read(value), undefined, option.key);
  }
});

t.test('a flag wins over the environment, that over the file, that over the default', async (t) => {
  const files = { '/srv/hearth.toml': '[http]\nlisten = "127.0.0.1:1"\n[log]\nlevel = "warn"\n' };
  const env = { SERVICE_HTTP_LISTEN: '127.0.0.1:2', SERVICE_LOG_FORMAT: 'json' };
  const flags = { 'http.listen': '127.0.0.1:4' };

  t.equal(load({}).http.listen.port, 3000);
  t.equal(load({ files }).http.listen.port, 1);
  t.equal(load({ files, env }).http.listen.port, 2);
  const { config, origins } = loadConfig(sources({ files, env, flags }));
  t.equal(config.http.listen.port, 4);
  t.same(origins.get('http.listen'), { kind: 'flag', name: null });
  t.same(origins.get('log.format'), { kind: 'environment', name: 'SERVICE_LOG_FORMAT' });
  t.same(origins.get('log.level'), { kind: 'file', name: '/srv/hearth.toml' });
  t.same(origins.get('grpc.listen'), { kind: 'default', name: null });
});

t.test('the file is searched as --config, SERVICE_CONFIG, ./hearth.toml, /etc/hearth/hearth.toml', async (t) => {
  const level = (name: string): string => `[log]\nlevel = "${name}"\n`;
  const files: Record<string, string> = {
    '/srv/flag.toml': level('debug'),
    '/srv/env.toml': level('warn'),
    '/srv/hearth.toml': level('error'),
    '/etc/hearth/hearth.toml': level('debug'),
  };
  const env = { SERVICE_CONFIG: 'env.toml' };
  t.equal(load({ files, env, configPath: 'flag.toml' }).log.level, 'debug');
  t.equal(load({ files, env }).log.level, 'warn');
  t.equal(load({ files }).log.level, 'error');
  delete files['/srv/hearth.toml'];
  t.equal(load({ files }).log.level, 'debug');
  t.same(searchPaths(sources({})), ['/srv/hearth.toml', '/etc/hearth/hearth.toml']);
  t.same(searchPaths(sources({ configPath: '/x.toml' })), ['/x.toml']);
});

t.test('a file that was named must exist', async (t) => {
  for (const inputs of [{ configPath: 'gone.toml' }, { env: { SERVICE_CONFIG: 'gone.toml' } }]) {
    t.match(problems(inputs), [{ reason: 'config_file', where: '/srv/gone.toml', message: /no such file/ }]);
  }
});

t.test('paths in a file are relative to its folder, others to the working folder', async (t) => {
  const files = { '/etc/hearth/hearth.toml': 'data_dir = "state"\n[storage]\nroot = "../git"\n' };
  t.equal(load({ files }).dataDir, '/etc/hearth/state');
  t.equal(load({ files }).storage.root, '/etc/git');
  t.equal(load({ files, env: { SERVICE_DATA_DIR: 'here' } }).dataDir, '/srv/here');
  t.equal(load({ env: { SERVICE_DATA_DIR: '/big' } }).repositories.imageRoot, '/big/repo-images');
});

t.test('values are parsed in their usual notations', async (t) => {
  const cases: [env: Record<string, string>, key: string, value: unknown][] = [
    [{ SERVICE_HTTP_LISTEN: '[::]:3000' }, 'http.listen', { host: '::', port: 3000 }],
    [{ SERVICE_HTTP_LISTEN: '[::1]:0' }, 'http.listen', { host: '::1', port: 0 }],
    [{ SERVICE_HTTP_LISTEN: ' localhost:80 ' }, 'http.listen', { host: 'localhost', port: 80 }],
    [{ SERVICE_BASE_URL: 'https://Git.Example.org/' }, 'base_url', 'https://git.example.org'],
    [{ SERVICE_BASE_URL: 'http://localhost:3000' }, 'base_url', 'http://localhost:3000'],
    [{ SERVICE_BASE_URL: '' }, 'base_url', null],
    [{ SERVICE_SSH_ENABLED: 'no' }, 'ssh.enabled', false],
    [{ SERVICE_FEDERATION_ENABLED: 'TRUE' }, 'federation.enabled', true],
    [{ SERVICE_FEDERATION_ENABLED: '1' }, 'federation.enabled', true],
    [{ SERVICE_GIT_QUEUE_WAIT: '1m30s' }, 'git.queue_wait', 90_000],
    [{ SERVICE_GIT_QUEUE_WAIT: '250ms' }, 'git.queue_wait', 250],
    [{ SERVICE_STORAGE_LOW_DISK_FLOOR: '1.5' }, 'storage.low_disk_floor', undefined],
    [{ SERVICE_STORAGE_LOW_DISK_FLOOR: '2GB' }, 'storage.low_disk_floor', 2_000_000_000],
    [{ SERVICE_STORAGE_LOW_DISK_FLOOR: '0B' }, 'storage.low_disk_floor', 0],
    [
      { SERVICE_FEDERATION_PEER_ALLOWLIST: 'Forge.Example.org, 127.0.0.1:8080,,[::1]:3' },
      'federation.peer_allowlist',
      ['forge.example.org', '127.0.0.1:8080', '[::1]:3'],
    ],
    [{ SERVICE_PROXY_TRUSTED: '' }, 'proxy.trusted', []],
    [
      { SERVICE_PROXY_TRUSTED: 'loopback,private,10.1.0.0/16,fd00::/8,192.0.2.1' },
      'proxy.trusted',
      ['loopback', 'private', '10.1.0.0/16', 'fd00::/8', '192.0.2.1'],
    ],
  ];
  for (const [env, key, value] of cases) {
    const { loaded } = checkConfig(sources({ env }));
    const option = options.find((option) => option.key === key)!;
    t.same(loaded === null ? undefined : configValue(loaded.config, option), value, JSON.stringify(env));
  }
});

t.test('wrong values are refused with the place, the value and what is expected', async (t) => {
  const wrong: [name: string, value: string, message: RegExp][] = [
    ['SERVICE_HTTP_LISTEN', '0.0.0.0', /"0\.0\.0\.0" is not allowed for http\.listen: it must be host:port/],
    ['SERVICE_HTTP_LISTEN', '0.0.0.0:65536', /host:port/],
    ['SERVICE_HTTP_LISTEN', '1.2.3:80', /host:port/],
    ['SERVICE_HTTP_LISTEN', '::1:3000', /\[::\]:3000/],
    ['SERVICE_HTTP_LISTEN', 'a b:1', /host:port/],
    ['SERVICE_BASE_URL', 'https://git.example.org/forge', /no path/],
    ['SERVICE_BASE_URL', 'https://me@git.example.org', /no path/],
    ['SERVICE_BASE_URL', 'git.example.org', /http:\/\/ or https:\/\//],
    ['SERVICE_BASE_URL', 'ftp://git.example.org', /https/],
    ['SERVICE_SSH_ENABLED', 'maybe', /true or false/],
    ['SERVICE_SSH_PUBLIC_PORT', '0', /from 1 to 65535/],
    ['SERVICE_FEDERATION_MAX_ATTEMPTS', '-1', /whole number/],
    ['SERVICE_FEDERATION_USER_RESYNC_INTERVAL', '5', /a duration/],
    ['SERVICE_FEDERATION_USER_RESYNC_INTERVAL', '5m!', /a duration/],
    ['SERVICE_FEDERATION_PEER_ALLOWLIST', 'https://forge.example.org', /host names/],
    ['SERVICE_PROXY_TRUSTED', '10.0.0.0/33', /networks/],
    ['SERVICE_LOG_LEVEL', 'loud', /debug, info, warn or error/],
    ['SERVICE_GIT_MAX_PUSH_SIZE', '9999999TiB', /a size from 1MiB to 1TiB/],
  ];
  for (const [name, value, message] of wrong) {
    t.match(
      problems({ env: { [name]: value } }),
      [{ reason: 'config_bad_value', where: name, message }],
      `${name}=${value}`,
    );
  }
});

t.test('TOML values need their own type: a quoted number is no number', async (t) => {
  t.match(problemIn('[ssh]\npublic_port = "22"'), {
    reason: 'config_bad_value',
    line: 2,
    message: /"22" is not allowed/,
  });
  t.match(problemIn('[ssh]\nenabled = "yes"'), { line: 2, message: /true or false/ });
  t.match(problemIn('[proxy]\ntrusted = "loopback"'), { line: 2 });
  t.match(problemIn('data_dir = 1979-05-27'), { line: 1 });
});

t.test('an unknown key is refused with its line and the nearest name', async (t) => {
  t.match(problemIn('# a\n\n[http]\n# b\nlistn = "x"'), {
    reason: 'config_unknown_key',
    line: 5,
    where: '/srv/hearth.toml:5',
    message: 'unknown key http.listn, did you mean http.listen?',
  });
  t.match(problemIn('[proxy]\ntrusted = [\n  "loopback",\n]\ntrust = 1'), {
    line: 5,
    message: /did you mean proxy\.trusted/,
  });
  t.match(problemIn('http.lisen = "x"'), { line: 1, message: /did you mean http\.listen/ });
  t.match(problemIn('ssh = { enabled = true, listn = "x" }'), { line: 1, message: /did you mean ssh\.listen/ });
  t.match(problemIn('x = """\n[http]\nlisten = "y"\n"""'), { line: 1, message: 'unknown key x' });
  t.match(problemIn('[htpp]\nlisten = "x"'), { line: 1, message: 'unknown section [htpp], did you mean [http]?' });
  t.match(problemIn('[http]\n[http.listen]\nport = 1'), { line: 2, reason: 'config_bad_value' });
  t.match(problemIn('level = "info"'), { line: 1, message: /did you mean log\.level/ });
  t.match(problemIn('[http]\nca_file = "/a"'), {
    line: 2,
    message: 'unknown key http.ca_file, did you mean ca_file, above the first [section]?',
  });
  t.match(problemIn('\nhttp = 3000'), { line: 2, message: /http is a section/ });
  t.match(problemIn('"__proto__" = 1'), { line: 1, message: /unknown key __proto__/ });
});

t.test('text that is not TOML is refused with its line', async (t) => {
  t.match(problemIn('[http]\nlisten = \n'), { reason: 'config_syntax', line: 2, where: '/srv/hearth.toml:2' });
  t.match(problemIn('[http]\nlisten = "127.0.0.1:1"\nlisten = "127.0.0.1:1"'), { reason: 'config_syntax', line: 3 });
});

t.test('all problems are reported in one error, and no setting is applied', async (t) => {
  const files = { '/srv/hearth.toml': '[http]\nlisten = 1\nport = 2\n' };
  const inputs = { files, env: { SERVICE_LOG_LEVEL: 'loud' } };
  t.equal(problems(inputs).length, 3);
  t.equal(checkConfig(sources(inputs)).loaded, null);
  try {
    load(inputs);
    t.fail('must throw');
  } catch (error) {
    if (!isDomainError(error)) throw error;
    t.equal(error.code, 'invalid');
    t.match(error.reason, /^config_/);
    t.equal(error.message.split('\n').length, 3);
  }
});

t.test('contradictory settings are refused', async (t) => {
  const refused: [Record<string, string>, RegExp][] = [
    [{ SERVICE_SSH_LISTEN: '127.0.0.1:3000' }, /ssh\.listen .* and http\.listen .* use the same port/],
    [{ SERVICE_GRPC_LISTEN: '[::]:2222' }, /grpc\.listen .* and ssh\.listen .* use the same port/],
    [{ SERVICE_STORAGE_ROOT: './data' }, /storage\.root/],
    [{ SERVICE_REPO_IMAGE_ROOT: './data/repositories' }, /image_root/],
    [{ SERVICE_SESSIONS_IDLE: '100d' }, /sessions\.idle/],
    [
      { SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true', SERVICE_FEDERATION_BASE_URL: 'https://git.example.org' },
      /public address/,
    ],
    [{ SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true', SERVICE_BASE_URL: 'https://git.example.org' }, /public address/],
    [
      { SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true', SERVICE_FEDERATION_BASE_URL: 'https://192.0.2.1' },
      /public address/,
    ],
  ];
  for (const [env, message] of refused) {
    t.match(problems({ env }), [{ reason: 'config_combination', message }], JSON.stringify(env));
  }
  // Each switch alone, at each of the two public addresses: a guard that left one out would pass if all were set.
  for (const section of ['FEDERATION', 'WEBHOOKS', 'MIRRORS']) {
    for (const address of ['SERVICE_BASE_URL', 'SERVICE_FEDERATION_BASE_URL']) {
      const env = { [`SERVICE_${section}_DEV_ALLOW_INSECURE`]: 'true', [address]: 'https://git.example.org' };
      const message = new RegExp(`${section.toLowerCase()}\\.dev_allow_insecure .* public address`);
      t.match(problems({ env }), [{ reason: 'config_combination', message }], JSON.stringify(env));
    }
  }
  const allowed: Record<string, string>[] = [
    { SERVICE_HTTP_LISTEN: '127.0.0.1:0', SERVICE_SSH_LISTEN: '127.0.0.1:0', SERVICE_GRPC_LISTEN: '127.0.0.1:0' },
    { SERVICE_HTTP_LISTEN: '127.0.0.1:80', SERVICE_SSH_LISTEN: '127.0.0.2:80' },
    { SERVICE_SSH_LISTEN: '0.0.0.0:3000', SERVICE_SSH_ENABLED: 'false' },
    { SERVICE_HTTP_LISTEN: '127.0.0.1:3001' },
    { SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true', SERVICE_FEDERATION_BASE_URL: 'http://127.0.0.1:4000' },
    { SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true', SERVICE_FEDERATION_BASE_URL: 'https://hearth.test' },
    { SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true', SERVICE_FEDERATION_BASE_URL: 'https://10.1.2.3:8443' },
  ];
  for (const env of allowed) t.same(problems({ env }), [], JSON.stringify(env));
});

t.test('SPEC §1 an unusable federation base URL turns federation off and does not stop the start', async (t) => {
  for (const url of ['http://localhost:3000', 'https://127.0.0.1', 'not a url', 'https://git.example.org/sub']) {
    const env = { SERVICE_FEDERATION_ENABLED: 'true', SERVICE_FEDERATION_BASE_URL: url };
    t.same(problems({ env }), [], url);
  }
  const { warnings } = loadConfig(sources({ env: { SERVICE_FEDERATION_ENABLED: 'true' } }));
  t.match(warnings, [/federation is disabled\. The base URL is missing/, /peer_allowlist is empty/]);
});

t.test('SPEC §1 federation works when the switch is on and the base URL is a public https origin', async (t) => {
  const obstacles = (baseUrl: string | null, more: object = {}) =>
    federationObstacles({ ...loadConfig(sources({})).config.federation, enabled: true, baseUrl, ...more }).join(' ');
  for (const url of [
    'https://git.example.org',
    'https://git.example.org/',
    'https://git.example.org:8443',
    'HTTPS://Git.Example.org',
    'https://8.8.8.8',
    'https://forge',
  ]) {
    t.equal(obstacles(url), '', url);
  }
  const table: [url: string | null, words: RegExp][] = [
    [null, /missing/],
    ['http://git.example.org', /not https/],
    ['https://localhost', /loopback/],
    ['https://a.localhost', /loopback/],
    ['https://localhost.', /loopback/],
    ['https://127.0.0.1', /loopback/],
    ['https://127.9.9.9:8443', /loopback/],
    ['https://[::1]', /loopback/],
    ['https://0.0.0.0', /loopback/],
    ['https://10.1.2.3', /inner/],
    ['https://192.168.0.9', /inner/],
    ['https://[fd00::1]', /inner/],
    ['https://169.254.1.1', /inner/],
    ['https://git.example.org/sub', /not an origin/],
    ['https://git.example.org?x', /not an origin/],
    ['https://a:b@git.example.org', /not an origin/],
    ['git.example.org', /not an origin/],
    ['ftp://git.example.org', /not an origin/],
    ['not a url', /not an origin/],
    ['https://127.1', /not an origin/],
  ];
  for (const [url, words] of table) t.match(obstacles(url), words, String(url));
  t.match(obstacles('https://git.example.org', { enabled: false }), /switch is off/);
});

t.test('SPEC §1 the development flag permits http and loopback in the base URL, nothing else', async (t) => {
  const obstacles = (baseUrl: string | null, enabled = true) =>
    federationObstacles({ ...loadConfig(sources({})).config.federation, enabled, baseUrl, devAllowInsecure: true });
  for (const url of ['http://127.0.0.1:3000', 'http://localhost:3000', 'https://10.0.0.1'])
    t.same(obstacles(url), [], url);
  t.equal(obstacles('ftp://127.0.0.1').length, 1);
  t.equal(obstacles(null, false).length, 2);
});

t.test('an unknown variable that resembles one of ours gets a warning', async (t) => {
  const { warnings } = loadConfig(sources({ env: { SERVICE_HTTP_LISTN: 'x', SERVICE_FQDN_APP: 'y' } }));
  t.match(warnings, [/SERVICE_HTTP_LISTN is unknown and ignored, did you mean SERVICE_HTTP_LISTEN\?/]);
  t.equal(warnings.length, 1);
});

t.test('a secret may come from the file that its …_FILE variable names, and is never shown', async (t) => {
  const table = [
    { key: 'data_dir', env: 'SERVICE_DATA_DIR', type: text, default: '/d', sentence: 'd' },
    {
      key: 'mail.password',
      env: 'SERVICE_MAIL_PASSWORD',
      type: text,
      default: null,
      sentence: 's',
      secret: true as const,
    },
  ];
  const files = { '/run/secret': 'hunter2\n' };
  const check = (env: Record<string, string>) => resolveOptions(table, sources({ env, files })).problems;
  const resolved = resolveOptions(table, sources({ env: { SERVICE_MAIL_PASSWORD_FILE: '/run/secret' }, files }));
  t.equal(resolved.values.get('mail.password'), 'hunter2', 'without the line end');
  t.same(resolved.origins.get('mail.password'), { kind: 'environment', name: 'SERVICE_MAIL_PASSWORD_FILE' });
  t.same(check({ SERVICE_MAIL_PASSWORD_FILE: '/run/secret' }), []);
  t.match(check({ SERVICE_MAIL_PASSWORD_FILE: '/run/gone' }), [
    { where: 'SERVICE_MAIL_PASSWORD_FILE', reason: 'config_file' },
  ]);
  t.match(check({ SERVICE_MAIL_PASSWORD_FILE: '/run/secret', SERVICE_MAIL_PASSWORD: 'x' }), [{ message: /not both/ }]);
  const shown = JSON.stringify(check({ SERVICE_MAIL_PASSWORD: 'canary\0canary' }));
  t.match(shown, /the value is not allowed/);
  t.notMatch(shown, /canary/);
});

t.test('the configuration is deeply frozen', async (t) => {
  const config = load({});
  for (const part of [config, config.http, config.http.listen, config.proxy.trusted]) t.ok(Object.isFrozen(part));
});

t.test('names and lines', async (t) => {
  t.equal(nearestName('htpt.listen', ['http.listen', 'ssh.listen']), 'http.listen');
  t.equal(nearestName('nothing.like.it', ['http.listen']), null);
  t.equal(formatAddress({ host: '::1', port: 80 }), '[::1]:80');
  t.same(
    [...locateTomlKeys('a = 1\n\n[b]\n# c\nd = [\n1,\n]\n"e" = 2\n[b.f]\ng = 3')],
    [
      ['a', 1],
      ['b', 3],
      ['b.d', 5],
      ['b.e', 8],
      ['b.f', 9],
      ['b.f.g', 10],
    ],
  );
  t.same(
    [...locateTomlKeys('a = 1\r\n# x\r\n[b]\r\nc = 2\r\n')],
    [
      ['a', 1],
      ['b', 3],
      ['b.c', 4],
    ],
  );
});

t.test('OpenID Connect providers are tables of the file, or a JSON list in the environment', async (t) => {
  const toml = `
[[oidc.providers]]
name = "company"
issuer = "https://id.example.org/realms/company"
client_id = "hearth"
client_secret = "very secret"
groups = [{ group = "developers", organisation = "forge", role = "member" }]

[[oidc.providers]]
name = "other"
title = "Other people"
issuer = "https://other.example.org/"
client_id = "x"
scopes = ["email"]
sign_up = true
`;
  const { oidc } = load({ files: { '/srv/hearth.toml': toml } });
  t.match(oidc.providers, [
    {
      name: 'company',
      title: 'company',
      clientSecret: 'very secret',
      clientSecretFile: null,
      scopes: ['openid', 'profile', 'email'],
      signUp: false,
      skipsSecondFactor: false,
      usernameClaim: 'preferred_username',
      groupsClaim: 'groups',
      groups: [{ group: 'developers', organisation: 'forge', role: 'MEMBER' }],
    },
    {
      name: 'other',
      title: 'Other people',
      issuer: 'https://other.example.org/',
      scopes: ['openid', 'email'],
      signUp: true,
    },
  ]);
  const option = options.find(({ key }) => key === 'oidc.providers')!;
  t.notMatch(option.type.toText(oidc.providers as never), /secret/, 'shown without secrets');
  const one = { name: 'company', issuer: 'https://id.example.org', client_id: 'x', client_secret: 'very secret' };
  const wrong: [given: unknown, why: RegExp][] = [
    ['no list', /must be a list/],
    [[{ ...one, name: 'Company' }], /provider Company: name must be/],
    [[{ ...one, issuer: 'id.example.org' }], /issuer must be an https URL/],
    [[{ ...one, issuer: 'https://id.example.org?x' }], /issuer must be an https URL/],
    [[{ ...one, client_id: undefined }], /client_id is missing/],
    [[{ ...one, client_secret_file: '/x' }], /client_secret or client_secret_file, not both/],
    [[{ ...one, secret: 'very secret' }], /unknown key secret/],
    [[{ ...one, sign_up: 'yes' }], /sign_up must be true or false/],
    [[{ ...one, groups: [{ group: 'a', organisation: 'b', role: 'KING' }] }], /role must be GUEST, MEMBER, OWNER/],
    [[one, { ...one, issuer: 'https://x.example.org' }], /same name/],
    [[one, { ...one, name: 'other' }], /same issuer/],
  ];
  for (const [given, why] of wrong) {
    const { problems } = checkConfig(sources({ env: { SERVICE_OIDC_PROVIDERS: JSON.stringify(given) } }));
    t.match(problems, [{ key: 'oidc.providers', message: why }], String(why));
    t.notMatch(problems[0]?.message, /very secret/, 'no secret in the message');
  }
  const alone = checkConfig(sources({ env: { SERVICE_ACCOUNTS_PASSWORD_SIGN_IN: 'false' } }));
  t.match(alone.problems, [{ key: 'accounts.password_sign_in' }], 'no person could sign in');
});
