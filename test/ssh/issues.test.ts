import t from 'tap';
import { PassThrough } from 'node:stream';
import { parseCommand } from '../../src/ssh/commands/parse-command.ts';
import { readStdin } from '../../src/ssh/commands/read-stdin.ts';
import { reasonOf } from '../repositories/repositories-fixture.ts';
import { startSsh } from './ssh-fixture.ts';

const hearth = await startSsh(t);
const alice = await hearth.person('alice');
const bob = await hearth.person('bob');
const { repositories, issues } = hearth.modules;
await repositories.create(alice.viewer, { name: 'site', visibility: 'PUBLIC' });
await repositories.create(alice.viewer, { name: 'vault', visibility: 'PRIVATE' });

const as = (who: typeof alice, command: string, input = '') => hearth.ssh([command], { keys: [who.key], input });

t.test('issues are opened, listed, shown, commented and closed by the owner of a key', async (t) => {
  t.match(await as(bob, 'issue new alice/site --title It rains in', 'Bring a bucket.\n'), {
    code: 0,
    stdout: 'Opened alice/site#1.\n',
    stderr: '',
  });
  t.match(await as(alice, 'issue comment alice/site 1', 'Where?'), { code: 0, stdout: /^Commented on alice\/site#1/ });
  t.match((await as(bob, 'issue list alice/site')).stdout, /^1\topen\tIt rains in\tbob\t\t\d{4}-[^\n]*Z\n$/);
  const shown = await as(bob, 'hearth issue show alice/site 1');
  t.match(shown.stdout, /title\tIt rains in\n[^]*\nBring a bucket\.\n[^]*--- alice, [^\n]*e1\nWhere\?\n/);
  t.match(await as(bob, 'issue close alice/site 1 --reason not_planned'), {
    code: 0,
    stdout: 'Closed alice/site#1.\n',
  });
  t.match((await as(bob, 'issue list alice/site')).stdout, '');
  t.match((await as(bob, 'issue list alice/site --state closed')).stdout, /^1\tclosed/);
  t.match(await as(alice, 'issue reopen alice/site 1'), { code: 0 });
  await issues.addLabel(
    alice.viewer,
    { repository: { owner: 'alice', name: 'site' } },
    { name: 'wet', colour: '0000ff' },
  );
  t.match(await as(alice, 'issue label alice/site 1 --add wet'), { code: 0, stdout: 'alice/site#1: wet\n' });
  t.match(await as(alice, 'issue assign alice/site 1 --add bob'), { code: 0, stdout: 'alice/site#1: bob\n' });
});

t.test('the rights are those of the pages, and what is hidden answers like what is absent', async (t) => {
  t.match(await as(bob, 'issue label alice/site 1 --remove wet'), {
    code: 1,
    stderr: /not have permission to do this/,
  });
  const hidden = await as(bob, 'issue new alice/vault --title x', 'y');
  t.same(hidden, { code: 1, stdout: '', stderr: 'hearth: repository not found\n' });
  t.same(await as(bob, 'issue list alice/absent'), hidden);
  t.match(await as(bob, 'issue show alice/site 99'), { code: 1, stderr: 'hearth: Issue not found\n' });
});

t.test('a text is bounded in size and time, and is UTF-8', async (t) => {
  t.match(await as(bob, 'issue new alice/site --title Long', 'x'.repeat(70_000)), { code: 1, stderr: /64 KiB/ });
  const read = (parts: Buffer[], limitMs: number) => {
    const input = new PassThrough();
    for (const part of parts) input.write(part);
    if (limitMs > 1_000) input.end();
    return readStdin({ input, signal: new AbortController().signal }, limitMs);
  };
  t.equal(await read([Buffer.from('é')], 5_000), 'é');
  t.equal(await reasonOf(read([Buffer.from([0xff])], 5_000)), 'invalid_text');
  t.equal(await reasonOf(read([Buffer.from('a')], 50)), 'no_text_came');
});

t.test('security F04: what is no command about issues is no command', async (t) => {
  const place = { owner: 'alice', name: 'site' };
  t.same(parseCommand('issue new alice/site --title A leak --label a, b'), {
    kind: 'issue new',
    ...place,
    title: 'A leak',
    labels: ['a', 'b'],
    assignees: [],
    milestone: null,
    template: null,
  });
  for (const line of [
    'issue',
    'issue list',
    'issue list ../x',
    'issue list alice/site 7',
    'issue list alice/site --state some',
    'issue show alice/site',
    'issue show alice/site x',
    'issue show alice/site 1 2',
    'issue show alice/site 1 --all',
    'issue new alice/site',
    'issue new alice/site --title',
    'issue comment alice/site 1 --close --reopen',
    'issue close alice/site 1 --reason bored',
    'issue label alice/site 1',
    'issue delete alice/site 1',
    'issue new alice/site --title a --title b',
  ])
    t.equal(parseCommand(line), null, line);
});
