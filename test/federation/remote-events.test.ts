// Releases, opened and merged issues and pull requests of repositories on other Hearths in the activity feed: from one
// Hearth to another as they are sent, and from a peer in every form that is wrong.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { startFakePeer } from './fake-peer.ts';
import { startPair, startPeer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.test('what happens in a repository there is in the feed here, newest first, under each filter', async (t) => {
  const { home, away, alice, bob } = await startPair(t);
  const { repositories, issues, releases, pulls, federation, db } = away.modules;
  for (const [name, visibility] of [
    ['tool', 'PUBLIC'],
    ['other', 'PUBLIC'],
    ['secret', 'PRIVATE'],
  ] as const)
    await repositories.create(localAdministrator, { owner: 'bob', name, visibility });
  const viewer = { ...localAdministrator, id: bob.id, username: 'bob', via: 'session' } as PersonViewer;
  const handle = `bob/tool@${away.host}`;
  await home.modules.federation.follow(alice.id, handle);
  await waitUntil(async () => {
    await home.modules.federation.drain();
    await federation.drain();
    return (await home.modules.federation.followingOf(alice.id)).repositories[0]?.state === 'ACCEPTED';
  }, 'the follow is accepted');
  const push = async (name: string, branch: string) => {
    const work = `${away.folder}/work-${name}`;
    await runGit(['init', '-q', '-b', 'main', work], { cwd: away.folder });
    writeFileSync(path.join(work, branch), branch);
    await runGit(['add', '.'], { cwd: work });
    await runGit(['commit', '-q', '-m', branch], { cwd: work });
    await runGit(
      ['push', '-q', `http://bob:${bob.token}@${away.host}/git/bob/${name}.git`, `HEAD:refs/heads/${branch}`],
      { cwd: work },
    );
  };
  for (const name of ['tool', 'other', 'secret']) {
    const at = { owner: 'bob', name };
    await push(name, 'main');
    await push(name, 'topic');
    await releases.create(viewer, at, { tag: 'v1', target: 'main', title: `One of ${name} <b>` });
    await releases.create(viewer, at, { tag: 'v2', target: 'main', title: 'Unseen', isDraft: true });
    await issues.open(viewer, at, { title: `Gate of ${name}` });
    const { issue } = await pulls.open(viewer, at, { title: `Change of ${name}`, base: 'main', head: 'topic' });
    await pulls.merge(viewer, { ...at, number: issue.number }, { style: 'merge', round: 1 });
  }
  await waitUntil(async () => {
    const [open] = await db.read.query('SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL');
    return Number(open.n) === 0;
  }, 'everything is announced');
  const list = (kinds?: readonly ('push' | 'release' | 'opened' | 'merged')[]) =>
    home.modules.federation.activityFeed(
      { ...localAdministrator, id: alice.id, username: 'alice', via: 'session' } as PersonViewer,
      { ...(kinds === undefined ? {} : { kinds }), place: 'elsewhere', limit: 50 },
    );
  await waitUntil(async () => {
    await federation.drain();
    return (await list(['merged'])).entries.length > 0 && (await list(['opened'])).entries.length > 1;
  }, 'it arrives');
  const said = async (kinds: readonly ('push' | 'release' | 'opened' | 'merged')[]) =>
    (await list(kinds)).entries.map((entry) => {
      if (entry.kind !== 'remote-event') return entry.kind;
      const { handle: of, kind, isPull, number, tag, title, author, url } = entry.event;
      return [of, kind, isPull, number, tag, title, author, url?.replace(away.origin, '')];
    });
  const base = '/repos/bob/tool';
  t.strictSame(await said(['release']), [
    [handle, 'release', false, null, 'v1', 'One of tool <b>', 'bob', `${base}/releases/tag/v1`],
  ]);
  t.strictSame(await said(['opened']), [
    [handle, 'opened', true, 2, null, 'Change of tool', 'bob', `${base}/pulls/2`],
    [handle, 'opened', false, 1, null, 'Gate of tool', 'bob', `${base}/issues/1`],
  ]);
  t.strictSame(await said(['merged']), [[handle, 'merged', true, 2, null, 'Change of tool', 'bob', `${base}/pulls/2`]]);
  const all = (await list()).entries;
  t.strictSame(
    all.map(({ at }) => at),
    all.map(({ at }) => at).toSorted((a, b) => b - a),
  );
  const { body } = await sendRequest(
    { port: Number(new URL(home.origin).port) },
    '/following/activity?show=release&place=elsewhere',
    { headers: { Host: home.host, Cookie: `hearth_session=${alice.session}` } },
  );
  t.match(body, `href="${away.origin}${base}/releases/tag/v1" rel="noopener noreferrer nofollow"`);
  t.match(body, 'One of tool &lt;b&gt;');
  t.notMatch(body, /secret|of other/);

  // Deleted there, it leaves the feed here; of what turns private nothing more comes.
  const [row] = await db.read.query("SELECT id FROM repositories WHERE name = 'tool'");
  const [newest] = (await federation.listNotes(row.id, { limit: 50 })).filter(({ url }) => url.endsWith('/tag/v1'));
  await federation.deleteNote(row.id, newest!.id);
  await federation.drain();
  t.strictSame(await said(['release']), []);
  await issues.open(viewer, { owner: 'bob', name: 'tool' }, { title: 'Of what is private now' });
  await repositories.changeVisibility(viewer, 'bob', 'tool', 'PRIVATE');
  await waitUntil(async () => {
    const [open] = await db.read.query('SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL');
    return Number(open.n) === 0;
  }, 'it is announced');
  await federation.drain();
  t.equal((await said(['opened'])).length, 2);
});

t.test('events of a peer are read strictly', async (t) => {
  const hearth = await startPeer(t, { host: '127.0.0.5', allow: ['127.0.0.6'] });
  const { federation, db } = hearth.modules;
  const alice = await hearth.addPerson('alice');
  const peer = await startFakePeer(t, { host: '127.0.0.6' });
  const repository = peer.addActor('/r', { type: 'Repository', name: 'r' });
  await federation.follow(alice.id, repository.id);
  let number = 0;
  const whole = (more: object = {}) => {
    number += 1;
    return {
      id: `${peer.origin}/notes/${number}`,
      type: 'Note',
      attributedTo: repository.id,
      published: '2026-01-02T03:04:05Z',
      url: `${peer.origin}/i/1`,
      content: 'x',
      event: 'opened',
      about: { type: 'Issue', name: 'Gate', number: 3 },
      author: { type: 'Person', name: 'carol' },
      ...more,
    };
  };
  const release = { event: 'released', about: { type: 'Release', name: 'One', tagName: 'v1' } };
  const stored = async () => db.read.query('SELECT * FROM received_events ORDER BY received_at, note_id');
  const send = async (object: unknown, more: object = {}) => {
    const activity = { id: peer.newId(), type: 'Create', actor: repository.id, object, ...more };
    const { status } = await peer.deliver(repository, `${hearth.origin}/ap/instance/inbox`, activity);
    return status;
  };
  const refused: [name: string, object: unknown, more?: object][] = [
    ['an id alone', `${peer.origin}/notes/1`],
    ['a list of two', [whole(), whole()]],
    ['no note', whole({ type: 'Article' })],
    ['a note without an event', whole({ event: undefined })],
    ['another event', whole({ event: 'closed' })],
    ['an event that is a list', whole({ event: ['opened'] })],
    ['no id', whole({ id: undefined })],
    ['an id elsewhere', whole({ id: 'https://elsewhere.example/1' })],
    ['an id that is a script', whole({ id: 'javascript:alert(1)' })],
    ['by another', whole({ attributedTo: `${peer.origin}/other` })],
    ['by nobody', whole({ attributedTo: undefined })],
    ['about nothing', whole({ about: null })],
    ['about another kind', whole({ about: { type: 'Wiki', name: 'x', number: 1 } })],
    ['without a number', whole({ about: { type: 'Issue', name: 'x' } })],
    ['number 0', whole({ about: { type: 'Issue', name: 'x', number: 0 } })],
    ['a negative number', whole({ about: { type: 'Issue', name: 'x', number: -1 } })],
    ['a broken number', whole({ about: { type: 'Issue', name: 'x', number: 1.5 } })],
    ['a number that is too large', whole({ about: { type: 'Issue', name: 'x', number: 1e300 } })],
    ['a number as text', whole({ about: { type: 'Issue', name: 'x', number: '1' } })],
    ['an issue that is merged', whole({ event: 'merged' })],
    ['a release without a tag', whole({ ...release, about: { type: 'Release', name: 'x' } })],
    ['a release that is an issue', whole({ ...release, about: { type: 'Issue', name: 'x', number: 1 } })],
    ['an activity without an id', whole(), { id: undefined }],
  ];
  for (const [name, object, more] of refused) {
    t.equal(await send(object, more), 202, name);
    t.strictSame(await stored(), [], name);
  }
  const kept: [name: string, more: object, expected: object][] = [
    ['an issue', {}, { kind: 'opened', is_pull: 0, number: 3, title: 'Gate', author: 'carol', tag: null }],
    ['a pull request', { about: { type: 'PullRequest', name: 'P', number: 4 } }, { is_pull: 1, number: 4 }],
    ['a merge', { event: 'merged', about: { type: 'PullRequest', name: 'P', number: 4 } }, { kind: 'merged' }],
    ['a release', release, { kind: 'release', tag: 'v1', number: null, is_pull: 0 }],
    ['a page elsewhere', { url: 'https://elsewhere.example/' }, { url: null }],
    ['a page that is a script', { url: 'javascript:alert(1)' }, { url: null }],
    ['no author', { author: undefined }, { author: null }],
    ['an author that is an id', { author: 'https://elsewhere.example/carol' }, { author: null }],
    [
      'text that turns around',
      { about: { type: 'Issue', name: 'a\u202eb\u0000\nc', number: 5 }, author: { name: 'x\u200fy' } },
      { title: 'ab c', author: 'xy' },
    ],
    ['a long title', { about: { type: 'Issue', name: 'x'.repeat(5_000), number: 6 } }, { title: 'x'.repeat(255) }],
    ['the future', { published: '2999-01-01T00:00:00Z' }, {}],
    ['no time', { published: 'soon' }, {}],
  ];
  for (const [name, more, expected] of kept) {
    const before = (await stored()).length;
    const object = whole(more);
    t.equal(await send(object), 202, name);
    await send(object);
    const rows = (await stored()) as { note_id: string; happened_at: number; received_at: number }[];
    t.equal(rows.length, before + 1, `${name}: once`);
    const row = rows.find(({ note_id }) => note_id === object.id)!;
    t.match(row, expected, name);
    t.ok(Number(row.happened_at) <= Number(row.received_at), `${name}: not in the future`);
  }

  // No more than two thousand a day of one repository, and nothing of what nobody follows any longer.
  await db.write(async ({ manager, now }) => {
    const { length } = (await manager.query('SELECT id FROM received_events')) as unknown[];
    for (let index = length; index < 2_000; index += 1)
      await manager.query(
        `INSERT INTO received_events (id, actor_id, note_id, kind, title, happened_at, received_at)
         VALUES (?, ?, ?, 'opened', '', 1, ?)`,
        [`fill-${index}`, repository.id, `fill-${index}`, now],
      );
  });
  t.equal(await send(whole()), 202);
  t.equal((await stored()).length, 2_000, 'the limit of a day');
  await db.write(({ manager }) => manager.query('DELETE FROM received_events'));
  await federation.unfollow(alice.id, (await federation.followingOf(alice.id)).repositories[0]!.id);
  t.equal(await send(whole()), 202);
  t.strictSame(await stored(), [], 'nobody follows');
});
