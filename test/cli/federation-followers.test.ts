// `hearth federation follower …` and `hearth federation note …`: what the API has, for administrators.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startFakePeer } from '../federation/fake-peer.ts';
import type { FakeActor } from '../federation/fake-peer.ts';
import { startPeer } from '../federation/two-instances.ts';
import { runCli } from './run-cli.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

const home = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.9'],
  env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true' },
});
const peer = await startFakePeer(t, { host: '127.0.0.10' });
const { organisations, repositories, federation, issues, db } = home.modules;
const alice = await home.addPerson('alice');
await home.addPerson('bob');
await organisations.create(localAdministrator, { name: 'acme', owner: 'alice' });
for (const [owner, name, visibility] of [
  ['alice', 'tool', 'PUBLIC'],
  ['alice', 'secret', 'PRIVATE'],
  ['bob', 'other', 'PUBLIC'],
] as const)
  await repositories.create(localAdministrator, { owner, name, visibility });

async function outputOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(['federation', ...words], {
    cwd: home.folder,
    openModules: async (config) => ({ ...home.modules, config, close: async () => {} }),
    env: { SERVICE_DATA_DIR: path.join(home.folder, 'data') },
  });
  return `${stdout}${stderr === '' ? '' : `[stderr] ${stderr}`}[${code}]`
    .replaceAll(peer.host, 'PEER')
    .replaceAll(home.host, 'HOME')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}
const json = async (...words: string[]) => JSON.parse((await outputOf(...words, '--json')).replace(/\[\d+\]$/, ''));

const [carol, dave, erin] = ['carol', 'dave', 'erin'].map((name) => peer.addActor(`/users/${name}`)) as [
  FakeActor,
  FakeActor,
  FakeActor,
];
async function follow(actor: FakeActor, subject: string): Promise<void> {
  const object = `${home.origin}/ap/${subject}`;
  const sent = { id: peer.newId(), type: 'Follow', actor: actor.id, object };
  t.equal((await peer.deliver(actor, `${object}/inbox`, sent)).status, 202);
}
const answersTo = (actor: FakeActor) =>
  peer
    .activities()
    .filter((each) => (each['object'] as { actor?: string }).actor === actor.id)
    .map(({ type }) => type);

for (const [subject, actor] of [
  ['alice/tool', 'repos/alice/tool'],
  ['acme', 'orgs/acme'],
  ['alice', 'users/alice'],
] as const)
  t.test(`followers of ${subject} are listed, approved and removed`, async (t) => {
    peer.received.length = 0;
    t.equal(await outputOf('follower', 'list', subject), '[0]');
    await follow(carol, actor);
    await follow(erin, 'repos/bob/other');
    t.equal(await outputOf('follower', 'list', subject), 'carol@PEER\thttp://PEER/users/carol\t<time>\n[0]');
    t.same(await json('follower', 'list', subject), [
      { actor: 'http://PEER/users/carol', handle: 'carol@PEER', url: null, host: 'PEER', createdAt: '<time>' },
    ]);

    t.equal(await outputOf('follower', 'approval', subject), 'Approval\toff\n[0]');
    t.equal(await outputOf('follower', 'approval', subject, 'on'), 'Approval\ton\n[0]');
    t.same(await json('follower', 'approval', subject), { approvesFollowers: true });
    t.same(await json('follower', 'approval', 'bob/other'), { approvesFollowers: false }, 'that of bob stays');
    await follow(dave, actor);
    t.equal(await outputOf('follower', 'requests', subject), 'dave@PEER\thttp://PEER/users/dave\t<time>\n[0]');
    t.match(await outputOf('follower', 'accept', subject, carol.id), /no follower or follow request matches .*\[3\]$/s);
    t.equal(
      await outputOf('follower', 'accept', subject, `@dave@${peer.host}`),
      `dave@PEER follows ${subject}.\n[0]`,
      'by its handle',
    );
    t.equal(await outputOf('follower', 'requests', subject), '[0]');
    t.match(await json('follower', 'list', subject), [{ handle: 'dave@PEER' }, { handle: 'carol@PEER' }]);

    await federation.drain();
    t.match(await outputOf('follower', 'remove', subject, erin.id), /\[3\]$/, 'who follows something else');
    t.equal(
      await outputOf('follower', 'remove', subject, carol.id),
      `carol@PEER does not follow ${subject}.\n[0]`,
      'by its address',
    );
    t.match(await outputOf('follower', 'remove', subject, carol.id), /\[3\]$/, 'once');
    await follow(carol, actor);
    t.match(await json('follower', 'requests', subject), [{ handle: 'carol@PEER' }]);
    t.match(await json('follower', 'remove', subject, `carol@${peer.host}`), { removed: true }, 'a request, too');
    t.same(await json('follower', 'requests', subject), []);
    await federation.drain();
    t.same([answersTo(carol), answersTo(dave)], [['Accept', 'Reject', 'Reject'], ['Accept']]);
    t.match(await json('follower', 'list', 'bob/other'), [{ handle: 'erin@PEER' }]);
  });

t.test('two followers with one handle are told apart by their addresses', async (t) => {
  const twin = peer.addActor('/twins/erin');
  await follow(twin, 'repos/bob/other');
  t.match(await outputOf('follower', 'remove', 'bob/other', `erin@${peer.host}`), /several followers match .*\[4\]$/s);
  t.match(await json('follower', 'remove', 'bob/other', twin.id), { actor: 'http://PEER/twins/erin' });
  t.match(await json('follower', 'list', 'bob/other'), [{ actor: 'http://PEER/users/erin' }]);
});

t.test('notes are chosen, listed and deleted', async (t) => {
  const usual = 'Pushes\tyes\nReleases\tyes\nIssues\tno\nPulls\tno\n[0]';
  t.equal(await outputOf('note', 'choices', 'alice/tool'), usual);
  t.same(await json('note', 'choices', 'alice/tool', '--issues', 'yes', '--releases', 'no'), {
    pushes: true,
    releases: false,
    issues: true,
    pulls: false,
  });
  t.equal(await outputOf('note', 'choices', 'bob/other'), usual);
  t.equal(await outputOf('note', 'list', 'alice/tool'), '[0]');
  const viewer = { ...localAdministrator, id: alice.id, username: 'alice' };
  await issues.open(viewer, { owner: 'alice', name: 'tool' }, { title: 'The <gate> & the "wall"' });
  const notes = () => federation.listNotes(tool.id, { limit: 5 });
  const { repository: tool } = await repositories.find(localAdministrator, 'alice', 'tool');
  await waitUntil(async () => (await notes()).length > 0, 'the note is written');
  const [note] = await notes();
  t.match(
    await outputOf('note', 'list', 'alice/tool'),
    /^<id>\t<time>\thttp:\/\/HOME\/repos\/alice\/tool\/issues\/1\t[^\n]*The <gate> & the "wall"[^\n<]*\n\[0\]$/,
  );
  t.match(await json('note', 'list', 'alice/tool', '--limit', '1'), [{ content: /&lt;gate&gt; &amp;/, id: '<id>' }]);
  t.match(
    await outputOf('note', 'remove', 'bob/other', note!.id),
    /the note .* does not exist.*\[3\]$/s,
    'of another one',
  );
  t.match(await outputOf('note', 'remove', 'alice/tool', note!.id.slice(0, 8)), /notified\.\n\[0\]$/);
  t.match(await outputOf('note', 'remove', 'alice/tool', note!.id), /\[3\]$/, 'once');
  t.equal(await outputOf('note', 'list', 'alice/tool'), '[0]');
});

t.test('a wrong call is refused, and changes nothing', async (t) => {
  const rows = async () =>
    JSON.stringify([
      await db.read.query('SELECT * FROM follow_approvals ORDER BY 1'),
      await db.read.query('SELECT * FROM note_choices ORDER BY 1'),
    ]);
  const before = await rows();
  const cases: [code: number, ...words: string[]][] = [
    [2, 'follower', 'list'],
    [2, 'follower', 'list', 'instance'],
    [3, 'follower', 'list', 'nobody'],
    [3, 'follower', 'list', 'alice/absent'],
    [2, 'follower', 'approval', 'alice', 'maybe'],
    [3, 'follower', 'accept', 'alice', ''],
    [3, 'follower', 'remove', 'alice/tool', 'nobody@example.org'],
    [2, 'note', 'list', 'alice'],
    [2, 'note', 'list', 'alice/tool', '--limit', '0'],
    [2, 'note', 'choices', 'alice/tool', '--pushes', 'perhaps'],
    [2, 'note', 'remove', 'alice/tool', ''],
    [3, 'note', 'remove', 'alice/tool', 'abcd'],
  ];
  for (const [code, ...words] of cases)
    t.match(await outputOf(...words), new RegExp(`\\[${code}\\]$`), words.join(' '));
  t.equal(await rows(), before);
});
