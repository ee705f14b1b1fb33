import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { exampleFile } from '../../src/config/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
const file = path.join(folder, 'hearth.toml');
const hearth = (line: string, env: Record<string, string> = {}) => runCli(line.split(' '), { cwd: folder, env });

t.test('a setting is read and changed from the command line', async (t) => {
  t.match(await hearth('config set git.read_slots 6'), { code: 3, stderr: /SERVICE_GIT_READ_SLOTS=6/ }, 'no file yet');
  writeFileSync(file, exampleFile());
  chmodSync(file, 0o640);
  for (const [key, given, shown] of [
    ['git.read_slots', '6', '6'],
    ['base_url', 'https://git.example.org', 'https://git.example.org'],
    ['federation.enabled', 'yes', 'true'],
    ['mirrors.allowed_hosts', 'git.example.lan,192.168.1.5:3000', 'git.example.lan,192.168.1.5:3000'],
    ['git.queue_wait', '45s', '45s'],
  ] as const) {
    t.match(await hearth(`config set ${key} ${given}`), { code: 0 }, key);
    t.same((await hearth(`config get ${key}`)).stdout.replaceAll(', ', ','), `${shown}\n`, key);
  }
  t.match((await hearth('config check')).stdout, 'ok');
  t.equal(statSync(file).mode & 0o777, 0o640);
  t.match(readFileSync(file, 'utf8'), '#read_slots = 8\nread_slots = 6\n', 'comments stay');
  t.match(readFileSync(file, 'utf8').split('[')[0], 'base_url = "https://git.example.org"', 'above the first section');
});

t.test('what is wrong changes nothing', async (t) => {
  const before = readFileSync(file, 'utf8');
  t.match(await hearth('config get git.read_slot'), { code: 3, stderr: /did you mean git\.read_slots\?/ });
  t.match(await hearth('config set git.read_slots many'), { code: 5, stderr: /a whole number from/ });
  t.match(await hearth('config set base_url nonsense'), { code: 5 });
  t.equal(readFileSync(file, 'utf8'), before);
});

t.test('a variable that overrides it is named, and a secret is not printed', async (t) => {
  const over = await hearth('config set git.read_slots 7', { SERVICE_GIT_READ_SLOTS: '9' });
  t.match(over, { code: 0, stderr: /SERVICE_GIT_READ_SLOTS still overrides it/ });
  t.match(await hearth('config get git.read_slots', { SERVICE_GIT_READ_SLOTS: '9' }), { stdout: '9\n' });
  const set = await hearth('config set metrics.token a-long-secret-of-metrics');
  t.equal(set.code, 0);
  t.notMatch(set.stdout, 'a-long-secret');
  t.equal((await hearth('config get metrics.token')).stdout, '••••\n');
  t.notMatch((await hearth('config get metrics.token --json')).stdout, 'a-long-secret');
});
