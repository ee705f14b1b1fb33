import t from 'tap';
import { parseCommand } from '../../src/ssh/commands/parse-command.ts';
import { startSsh } from './ssh-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hearth = await startSsh(t);
const alice = await hearth.person('alice');
const bob = await hearth.person('bob');
const { repositories, issues, notifications } = hearth.modules;
await repositories.create(alice.viewer, { name: 'site', visibility: 'PUBLIC' });
const as = (who: typeof alice, command: string) => hearth.ssh([command], { keys: [who.key] });

t.test('the inbox is listed, changed and changed back by the owner of a key', async (t) => {
  await issues.open(bob.viewer, { owner: 'alice', name: 'site' }, { title: 'It rains in', body: '@alice' });
  await waitUntil(async () => (await notifications.countUnread(alice.viewer)) !== 0);
  const { stdout } = await as(alice, 'inbox');
  t.match(stdout, /^\d+\tunread\talice\/site#1\tIt rains in\tmention\t\d{4}-[^\n]*Z\n$/);
  const [id] = stdout.split('\t');
  t.same(await as(bob, 'inbox list'), { code: 0, stdout: '', stderr: '' });
  t.match(await as(bob, `inbox done ${id}`), { code: 1, stderr: /no such notification/ }, 'of another person');
  const done = await as(alice, `inbox done ${id}`);
  t.match(done, { code: 0, stdout: /^Changed\. To take it back: inbox undo done\.\d+\n$/ });
  t.same((await as(alice, 'inbox list')).stdout, '');
  t.match((await as(alice, 'inbox list --done')).stdout, new RegExp(`^${id}\t`));
  t.match(await as(alice, done.stdout.trim().replace(/^.*: /, '')), { code: 0, stdout: 'Taken back.\n' });
  t.match(await as(alice, 'inbox read --all'), { code: 0 });
  t.match((await as(alice, 'inbox')).stdout, /^\d+\tread\t/);
});

t.test('releases and failed runs have lines, too', async (t) => {
  const { db } = hearth.modules;
  const { repository } = await repositories.find(alice.viewer, 'alice', 'site');
  const add = (subject: string, details: object) =>
    db.write(({ manager, now }) =>
      manager.query(
        `INSERT INTO notifications (user_id, subject, repository_id, reason, details, first_position, last_position, listed_at)
         VALUES (?, ?, ?, 'watching', ?, 1, 1, ?)`,
        [alice.viewer.id, subject, repository.id, JSON.stringify(details), now],
      ),
    );
  const run = { number: 3, workflow: 'Ship', title: 'Fix', ref: 'refs/heads/main', sha: 'a'.repeat(40) };
  await add('release:1', { id: '1', tag: 'v1.0', title: '' });
  await add(`run:${repository.id}`, run);
  await add(`deployment:${repository.id}:3:live`, { ...run, environment: 'live' });
  const { stdout } = await as(alice, 'inbox list --unread');
  const cells = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t').slice(2, 4));
  t.strictSame(cells, [
    ['alice/site run 3', 'Ship waits to deploy to live: Fix'],
    ['alice/site run 3', 'Ship: Fix'],
    ['alice/site v1.0', 'v1.0'],
  ]);
});

t.test('security F04: what is no command about the inbox is no command', async (t) => {
  for (const line of [
    'inbox all',
    'inbox list --unread --done',
    'inbox list --all',
    'inbox done',
    'inbox done 1 x',
    'inbox done --all 1',
    'inbox undo unread.5',
    'inbox undo',
    `inbox done ${'1 '.repeat(101)}`,
  ])
    t.equal(parseCommand(line), null, line);
});
