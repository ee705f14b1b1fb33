// Notes for people: what followers on servers whose NodeInfo names a microblog get instead of pushes.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { pushNoteHtml, releaseNoteHtml } from '../../src/federation/activities/note.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { sendRaw, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hearth = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'],
});
const { federation, repositories, db } = hearth.modules;
const alice = await hearth.addPerson('alice');
await repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
await repositories.create(localAdministrator, { owner: 'alice', name: 'other', visibility: 'PUBLIC' });
const tool = `${hearth.origin}/ap/repos/alice/tool`;

/** A server that says what it is. */
async function peerOf(
  host: string,
  software: string | null,
  more: (id: string) => object = () => ({}),
): Promise<{ peer: FakePeer; reader: FakeActor }> {
  const peer = await startFakePeer(t, { host });
  if (software !== null) {
    const rel = 'http://nodeinfo.diaspora.software/ns/schema/2.0';
    peer.respond('/.well-known/nodeinfo', { links: [{ rel, href: `${peer.origin}/nodeinfo/2.0` }] });
    peer.respond('/nodeinfo/2.0', { version: '2.0', software: { name: software, version: '1' } });
  }
  const document = more(`${peer.origin}/users/reader`) as Record<string, unknown>;
  return { peer, reader: peer.addActor('/users/reader', document) };
}

const blog = await peerOf('127.0.0.3', 'GoToSocial');
const forge = await peerOf('127.0.0.4', 'hearth');
const silent = await peerOf('127.0.0.5', null);
/** Known by name for neither: an application of Fedify, and a forge that is new. */
const app = await peerOf('127.0.0.6', 'ownapp');
const newForge = await peerOf('127.0.0.7', 'newforge', (id) => ({ repositories: `${id}/repositories` }));

async function push(subjects: readonly string[], branch = 'main', repository = 'tool'): Promise<void> {
  const work = path.join(hearth.folder, `work-${repository}`);
  await runGit(['init', '-q', '-b', 'main', work], { cwd: hearth.folder });
  for (const subject of subjects) await runGit(['commit', '-q', '--allow-empty', '-m', subject], { cwd: work });
  const url = `http://alice:${alice.token}@${hearth.host}/git/alice/${repository}.git`;
  const announced = async () =>
    Number((await db.read.query("SELECT count(*) AS n FROM federation_outbox WHERE type = 'Push'"))[0].n);
  const before = await announced();
  await runGit(['push', '-q', url, `HEAD:refs/heads/${branch}`], { cwd: work });
  await waitUntil(async () => (await announced()) > before, 'the push is announced');
  await federation.drain();
}

const typesAt = ({ peer }: { peer: FakePeer }) => peer.activities().map(({ type }) => type);
const notesAt = () =>
  blog.peer.activities().flatMap(({ type, object }) => (type === 'Create' ? [object as Record<string, unknown>] : []));

t.test('a microblog gets a note of each push to the default branch, a forge the Push', async (t) => {
  for (const { peer, reader } of [blog, forge, silent, app, newForge])
    await peer.deliver(reader, `${tool}/inbox`, { id: peer.newId(), type: 'Follow', actor: reader.id, object: tool });
  await push(['First <step> & more', 'Second']);
  t.strictSame(typesAt(blog), ['Accept', 'Create']);
  t.strictSame(typesAt(forge), ['Accept', 'Push']);
  t.strictSame(typesAt(silent), ['Accept', 'Push'], 'a server that says nothing of itself counts as a forge');
  t.strictSame(typesAt(app), ['Accept', 'Create'], 'whose people name no repositories');
  t.strictSame(typesAt(newForge), ['Accept', 'Push']);
  const [note] = notesAt();
  t.match(note, {
    id: new RegExp(`^${tool}/notes/[0-9a-f-]{36}$`),
    type: 'Note',
    attributedTo: tool,
    to: ['https://www.w3.org/ns/activitystreams#Public'],
    cc: [`${tool}/followers`],
    url: new RegExp(`^${hearth.origin}/repos/alice/tool/commit/[0-9a-f]{40}$`),
    content: /pushed 2 commits to .*alice\/tool.*\(main\).*Second<br>.*First &lt;step&gt; &amp; more/,
  });
  await push(['Elsewhere'], 'topic');
  t.strictSame(typesAt(blog), ['Accept', 'Create'], 'other branches are for forges');
  t.strictSame(typesAt(forge), ['Accept', 'Push', 'Push']);
  await push(['Of another'], 'main', 'other');
  t.strictSame([typesAt(blog).length, typesAt(forge).length], [2, 3], 'nor is that of another repository');
});

t.test(
  'a note has its own address: the note for programs, its page for people, nothing once it is private',
  async (t) => {
    const [note] = notesAt();
    const get = (accept: string) =>
      sendRaw({
        url: String(note!['id']),
        method: 'GET',
        headers: [
          ['Host', hearth.host],
          ['Accept', accept],
        ],
      });
    t.match(JSON.parse((await get('application/activity+json')).body), note);
    t.match(await get('text/html'), { status: 303, headers: { location: note!['url'] } });
    const outbox = await sendRaw({ url: `${tool}/outbox`, method: 'GET', headers: [['Host', hearth.host]] });
    t.match(JSON.parse(outbox.body), { totalItems: 2 }, 'SPEC: the outbox has the pushes');
    const elsewhere = String(note!['id']).replace('/tool/', '/other/');
    t.equal((await sendRaw({ url: elsewhere, method: 'GET', headers: [['Host', hearth.host]] })).status, 404);

    const before = blog.peer.activities().length;
    await push(['Written while public']).then(() => undefined);
    t.equal(blog.peer.activities().length, before + 1);
    await repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PRIVATE');
    t.equal((await get('application/activity+json')).status, 404);
    t.equal((await get('text/html')).status, 404);
    await repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PUBLIC');
    t.equal((await get('application/activity+json')).status, 200);
  },
);

t.test('a release is a note, and no more than twelve an hour are sent', async (t) => {
  const before = notesAt().length;
  const viewer = { ...localAdministrator };
  await hearth.modules.releases.create(
    viewer,
    { owner: 'alice', name: 'tool' },
    { tag: 'v1', target: 'main', title: 'One' },
  );
  await federation.drain();
  t.equal(notesAt().length, before + 1);
  t.match(notesAt().at(-1), {
    content: /Released .*v1: One<\/a> of .*alice\/tool/,
    url: `${hearth.origin}/repos/alice/tool/releases/tag/v1`,
  });
  for (let index = notesAt().length; index < 14; index += 1) await push([`Number ${index}`]);
  t.equal(notesAt().length, 12);
});

t.test('a server that says that an inbox is gone is not asked again, and its follower is one no more', async (t) => {
  const followers = async () => (await federation.listFollowers('alice', 'tool')).map(({ actorId }) => actorId).sort();
  t.equal((await followers()).length, 5);
  forge.peer.respond('/users/reader/inbox', (_request, response) => void response.writeHead(410).end());
  silent.peer.respond('/users/reader/inbox', (_request, response) => void response.writeHead(404).end());
  await push(['To nobody']);
  t.strictSame(await followers(), [blog, silent, app, newForge].map(({ reader }) => reader.id).sort());
  const rows = await db.read.query(
    "SELECT state, attempts FROM federation_delivery WHERE target_inbox = ? AND state <> 'DELIVERED'",
    [forge.reader.inbox],
  );
  t.match(rows, [{ state: 'FAILED', attempts: 1 }]);
});

t.test('text of notes is escaped', (t) => {
  const push = {
    pusherName: '<A>',
    repositoryName: 'a/b',
    repositoryUrl: 'https://a.example/repos/a/b"x',
    branch: '<b>',
    isForced: true,
    totalCommits: 5,
    commits: [{ hash: 'a'.repeat(40), subject: '<script>' }],
  };
  const html = pushNoteHtml(push);
  t.match(html, '&lt;A&gt; force-pushed 5 commits');
  t.match(html, '… and 4 more');
  t.notMatch(html, /<script|<b>|<A>|b"x"/);
  t.match(pushNoteHtml({ ...push, totalCommits: 0, commits: [] }), /0 commits to .*\(&lt;b&gt;\)<\/p>$/);
  const release = {
    repositoryName: 'a/b',
    repositoryUrl: 'https://a.example',
    tag: '<1>',
    title: '',
    url: 'https://a',
  };
  t.match(releaseNoteHtml(release), 'Released <a href="https://a">&lt;1&gt;</a> of');
  t.end();
});

t.test('the owner chooses of what notes are made, issues and pull requests among them', async (t) => {
  const { issues } = hearth.modules;
  const [row] = await db.read.query("SELECT id FROM repositories WHERE name = 'tool'");
  const at = { owner: 'alice', name: 'tool' };
  const viewer = { ...localAdministrator, id: alice.id, username: 'alice', via: 'session' } as PersonViewer;
  await db.write(({ manager }) => manager.query('UPDATE federation_outbox SET created_at = created_at - 7200000'));
  t.strictSame(await federation.noteChoices(row.id), { pushes: true, releases: true, issues: false, pulls: false });
  const settled = async () =>
    waitUntil(async () => {
      const [open] = await db.read.query('SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL');
      return Number(open.n) === 0;
    }, 'the entries are announced');
  const before = notesAt().length;
  await issues.open(viewer, at, { title: 'Not told' });
  await settled();
  await federation.drain();
  t.equal(notesAt().length, before, 'not unless it is chosen');

  await federation.chooseNotes(row.id, { pushes: false, releases: true, issues: true, pulls: false });
  const issue = await issues.open(viewer, at, { title: 'The <gate> squeaks' });
  await settled();
  await push(['Unsaid']);
  const told = notesAt().slice(before);
  t.strictSame(
    told.map(({ content, url }) => [content, url]),
    [
      [
        `<p>alice opened the issue <a href="${hearth.origin}/repos/alice/tool/issues/${issue.number}">The &lt;gate&gt; squeaks #${issue.number}</a> in <a href="${hearth.origin}/repos/alice/tool">alice/tool</a></p>`,
        `${hearth.origin}/repos/alice/tool/issues/${issue.number}`,
      ],
    ],
    'of the issue, and no longer of pushes',
  );

  const [listed] = await federation.listNotes(row.id, { limit: 1 });
  t.equal(listed!.uri, told[0]!['id']);
  const [other] = await db.read.query("SELECT id FROM repositories WHERE name = 'other'");
  await t.rejects(federation.deleteNote(other.id, listed!.id), /no such note/, 'by another repository');
  const visible = (visibility: string) =>
    db.write(({ manager }) =>
      manager.query('UPDATE repositories SET visibility = ? WHERE id = ?', [visibility, row.id]),
    );
  await visible('PRIVATE');
  await t.rejects(federation.deleteNote(row.id, listed!.id), /sends nothing/);
  await visible('PUBLIC');
  const sent = blog.peer.activities().length;
  await federation.deleteNote(row.id, listed!.id);
  await federation.drain();
  const gone = await sendRaw({ url: String(told[0]!['id']), method: 'GET', headers: [['Host', hearth.host]] });
  t.equal(gone.status, 404);
  t.match(blog.peer.activities().slice(sent), [
    { type: 'Delete', actor: tool, object: { id: told[0]!['id'], type: 'Tombstone' } },
  ]);
  t.notOk(typesAt(forge).includes('Delete'), 'who had not got it is told nothing');
  await t.rejects(federation.deleteNote(row.id, listed!.id), /no such note/, 'once');
});
