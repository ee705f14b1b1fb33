// time limit: 120 s
// Commands that import beside a running server: the server runs what they begin, and they show how far it is.
import path from 'node:path';
import t from 'tap';
import { runCli } from '../cli/run-cli.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { databaseSettings } from '../fixtures/test-postgres.ts';
import { startGiteaStub } from './gitea-stub.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(110_000);

t.test('the server runs imports and groups that a command begins', async (t) => {
  const port = await freePort();
  const hosts = { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` };
  const here = await startHearth(t, { env: hosts });
  await here.addPerson('alice');
  await here.addPerson('carol');
  const forge = await startGiteaStub(t, { port });
  forge.addComment(forge.addIssue({ title: 'First' }), 'A comment');
  const dataDir = path.join(here.folder, 'data');
  const env = { ...hosts, SERVICE_DATA_DIR: dataDir, ...(await databaseSettings(t, dataDir)) };
  const command = (...words: string[]) => runCli(words, { env, cwd: here.folder, input: `${forge.world.token}\n` });
  const ended = (): number => here.log.filter(({ event }) => event === 'import.run_ended').length;

  const started = await command('import', 'start', `${forge.url}/bob/tool`, 'alice/tool', '--secret-stdin');
  t.match(started, { code: 0, stdout: /alice\/tool from .*: done\nrun 1: 1 issues and pull requests written/ });
  t.ok(await waitUntil(() => ended() === 1), 'in the server');
  t.match(await command('import', 'run', 'alice/tool', '--full'), { code: 0, stdout: /run 2: 0 .* 1 unchanged/ });
  t.ok(await waitUntil(() => ended() === 2));

  const group = await command('import', 'group', 'start', `${forge.url}/bob`, '--owner', 'carol', '--secret-stdin');
  t.match(group, { code: 0, stdout: /1 of 1 here\n {2}bob\/tool is carol\/tool: done/ });
  t.ok(await waitUntil(() => ended() === 3));
  const [, id = ''] = /^(\S+) from /.exec(group.stdout) ?? [];
  const over = await command('import', 'group', 'switch-over', id);
  t.match(over, { code: 0, stdout: /bob\/tool is carol\/tool: ended/ });
  t.ok(await waitUntil(() => ended() === 4));
});
