// The log of issues as JSON and Markdown, and back: numbers, times, order, authors, files; hostile exports.
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { attachmentMarkdown } from '../../src/issues/index.ts';
import type { ImportFile, ImportSource } from '../../src/issues/index.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { sampleImages } from '../images/sample-images.ts';
import { anonymous, at, openIssues, reasonOf, roof } from './issues-fixture.ts';
import type { IssueModules } from './issues-fixture.ts';

type Files = Map<string, Buffer>;

/** An export in memory, as a bundle would give it. */
async function exported({ issues, repositories, alice }: IssueModules, name = 'roof'): Promise<Files> {
  const { repository } = await repositories.find(alice, 'alice', name);
  const files: Files = new Map();
  for await (const { name: path, size, content } of issues.exportIssues(repository.id)) {
    const bytes = Buffer.concat(await all(content));
    if (size !== null && size !== bytes.length) throw new Error(`${path} has ${bytes.length} bytes and not ${size}`);
    if (files.has(path)) throw new Error(`${path} comes twice`);
    files.set(path, bytes);
  }
  return files;
}

async function all<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return found;
}

const sourceOf = (files: ReadonlyMap<string, Buffer>): ImportSource => {
  const fileOf = (path: string, bytes: Buffer): ImportFile => ({
    name: path.split('/').at(-1)!,
    read: async (maxBytes) => (bytes.length > maxBytes ? null : bytes),
  });
  return {
    file: async (path) => (files.has(path) ? fileOf(path, files.get(path)!) : null),
    files: async (folder) =>
      [...files].flatMap(([path, bytes]) => (path.startsWith(`${folder}/`) ? [fileOf(path, bytes)] : [])),
  };
};

async function imported(
  modules: IssueModules,
  files: ReadonlyMap<string, Buffer>,
  name: string,
  isNew = true,
): Promise<{ added: number; updated: number }> {
  const { issues, repositories, alice } = modules;
  const where = { owner: 'alice', name };
  const source = sourceOf(files);
  const checked = (await issues.checkExport(source))!;
  if (isNew) await repositories.create(alice, { ...where, visibility: 'PUBLIC' });
  const { repository } = await repositories.find(alice, 'alice', name);
  return issues.importIssues(repository, where, checked, source);
}

async function* chunks(content: string | Buffer): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

/** A repository with something of everything in its issues. */
async function full(modules: IssueModules): Promise<void> {
  const { issues, alice, bob, carol, clock } = modules;
  await issues.addLabel(alice, { repository: roof }, { name: 'kind/bug', colour: 'd73a4a', isExclusive: true });
  await issues.addMilestone(alice, roof, { title: 'Autumn', dueOn: '2026-10-01' });
  const photo = await issues.addAttachment(bob, roof, {
    name: 'photo.png',
    content: chunks(sampleImages['image/png']),
  });
  await issues.open(bob, roof, { title: 'It rains in', body: `Look: ${attachmentMarkdown(photo, roof)}` });
  clock.advance(1_000);
  await issues.open(alice, roof, { title: 'Buy tiles', body: 'for #1, @carol' });
  clock.advance(1_000);
  await issues.comment(carol, at(1), { body: 'Mine too' });
  clock.advance(1_000);
  await issues.editText(carol, at(1), { position: 2, body: 'Mine **too**', revision: 1 });
  await issues.react(bob, at(1), { position: 2, kind: 'heart', isOn: true });
  await issues.triage(alice, at(1), {
    labels: ['kind/bug'],
    assignees: ['bob'],
    milestone: 'Autumn',
    isLocked: true,
    isPinned: true,
  });
  await issues.addLink(alice, at(1), 'needs', at(2));
  clock.advance(1_000);
  await issues.comment(alice, at(1), { body: 'spam', state: 'completed' });
  await issues.hideComment(alice, at(1), {
    position: (await issues.find(alice, at(1))).lastPosition - 1,
    reason: 'spam',
  });
  const gone = await issues.comment(alice, at(2), { body: 'wrong place' });
  await issues.deleteComment(alice, at(2), gone.position);
  await issues.open(alice, roof, { title: 'trashed' });
  await issues.trash(alice, at(3));
}

/** What a reader sees of an issue, without ids. */
async function seen({ issues, alice }: IssueModules, number: number, name: string): Promise<unknown> {
  const where = at(number, name);
  const { title, state, closeReason, authorId, authorName, createdAt, updatedAt, closedAt, ...issue } =
    await issues.find(alice, where);
  const { entries } = await issues.listEntries(alice, where);
  return {
    ...{ title, state, closeReason, authorId, authorName, createdAt, updatedAt, closedAt },
    ...{ commentCount: issue.commentCount, lastPosition: issue.lastPosition },
    isLocked: issue.lockedAt !== null,
    isPinned: issue.pinnedAt !== null,
    labels: issue.labels.map(({ name: label, colour, isExclusive }) => ({ label, colour, isExclusive })),
    assignees: issue.assignees,
    links: (await issues.listLinks(alice, where)).map(({ kind, isOutgoing, issue: other }) => [
      kind,
      isOutgoing,
      other.number,
    ]),
    entries: entries.map(({ details, body, other, ...entry }) => ({
      position: entry.position,
      kind: entry.kind,
      authorId: entry.authorId,
      authorName: entry.authorName,
      body: body?.replaceAll(/\/repos\/\S+\/attachments\/[-0-9a-f]{36}/g, 'FILE'),
      details: { ...details, issueId: undefined, position: undefined },
      other: other?.number,
      createdAt: entry.createdAt,
      editedAt: entry.editedAt,
      isDeleted: entry.deletedAt !== null,
      revision: entry.revision,
      hiddenFor: entry.hiddenFor,
      reactions: entry.reactions,
    })),
  };
}

t.test('an export comes back whole on the same instance: numbers, times, order, people, files', async (t) => {
  const modules = await openIssues(t);
  const { issues, repositories, alice } = modules;
  await full(modules);
  const before = [await seen(modules, 1, 'roof'), await seen(modules, 2, 'roof')];
  const files = await exported(modules);
  t.strictSame(
    [...files.keys()].filter((path) => !path.startsWith('attachments/')),
    ['issues.json', 'labels.json', 'milestones.json', 'issues/1.json', 'issues/1.md', 'issues/2.json', 'issues/2.md'],
  );
  t.strictSame(await imported(modules, files, 'copy'), { added: 2, updated: 0 });
  t.strictSame([await seen(modules, 1, 'copy'), await seen(modules, 2, 'copy')], before);

  const { repository } = await repositories.find(alice, 'alice', 'copy');
  t.equal((await issues.count(repository.id)).openIssues, 1);
  t.equal((await issues.count(repository.id)).closedIssues, 1);
  t.equal((await issues.listMilestones(alice, { owner: 'alice', name: 'copy' }))[0]?.dueOn, '2026-10-01');
  const body = (await issues.listEntries(alice, at(1, 'copy'))).entries[0]!.body!;
  const [, id] = /\/repos\/alice\/copy\/attachments\/([-0-9a-f]{36})/.exec(body)!;
  const { attachment } = await issues.findAttachment(anonymous, id!);
  t.ok((await buffer((await issues.readAttachment(attachment)).stream)).equals(sampleImages['image/png']));
  t.equal(
    (await issues.open(alice, { owner: 'alice', name: 'copy' }, { title: 'next' })).number,
    4,
    'of the one in the trash, too',
  );
});

t.test('no person and no listener is notified of an import', async (t) => {
  const modules = await openIssues(t);
  const { issues, db, alice, carol } = modules;
  await full(modules);
  const files = await exported(modules);
  const notified: string[] = [];
  issues.onEntry({ name: 'ear', record: async (_tx, { entry }) => void notified.push(entry.kind) });
  await imported(modules, files, 'copy');
  await issues.finishEntries();
  await issues.recoverEntries();
  await issues.stop();
  t.strictSame(notified, []);
  t.equal((await issues.subscriptionOf(carol, at(2, 'copy')))?.isOn ?? false, false);
  const [row] = await db.read.query(
    'SELECT count(*) AS n FROM issue_mentions m JOIN issues i ON i.id = m.issue_id JOIN repositories r ON r.id = i.repository_id WHERE r.name = ?',
    ['copy'],
  );
  t.equal(Number((row as { n: number }).n), 0);
  t.not(alice, null);
});

t.test('a file that this instance has not written itself names people, and is nobody’s account', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice } = modules;
  await full(modules);
  const files = await exported(modules);
  for (const [path, bytes] of files)
    if (path.startsWith('issues/') && path.endsWith('.json'))
      files.set(path, Buffer.from(bytes.toString().replaceAll('It rains in', 'Rain')));
  await imported(modules, files, 'forged');
  const issue = await issues.find(alice, at(1, 'forged'));
  t.match(issue, { title: 'Rain', authorId: null, authorName: 'bob', assignees: [] });
  const { entries } = await issues.listEntries(alice, at(1, 'forged'));
  t.strictSame([...new Set(entries.map(({ authorId }) => authorId))], [null]);
  t.strictSame(
    entries.flatMap(({ reactions }) => reactions),
    [],
  );
  t.match(entries.find(({ kind }) => kind === 'assigned')?.details, { users: [], names: ['bob'] });
});

t.test('a second import is an update: what changed there changes here, what was done here stays', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol, clock } = modules;
  await full(modules);
  await imported(modules, await exported(modules), 'copy');
  clock.advance(60_000);
  await issues.triage(alice, at(1, 'copy'), { isLocked: false });
  await issues.comment(bob, at(1, 'copy'), { body: 'said here' });
  await issues.triage(alice, at(1), { isLocked: false, state: 'open' });
  await issues.comment(carol, at(1), { body: 'said there' });
  await issues.editText(carol, at(1), { position: 2, body: 'Mine no more', revision: 2 });
  await issues.setTitle(alice, at(1), 'It rained in');
  await issues.open(alice, roof, { title: 'new' });
  const files = await exported(modules);
  t.strictSame(await imported(modules, files, 'copy', false), { added: 1, updated: 2 });
  const { entries } = await issues.listEntries(alice, at(1, 'copy'));
  const bodies = entries.flatMap(({ body, kind }) => (kind === 'comment' && body !== null ? [body] : []));
  t.strictSame(bodies, ['Mine no more', 'spam', 'said here', 'said there']);
  t.equal((await issues.listRevisions(alice, at(1, 'copy'), 2)).at(-1)?.body, 'Mine **too**');
  t.match(await issues.find(alice, at(1, 'copy')), { title: 'It rained in', state: 'OPEN', commentCount: 4 });
  t.equal((await issues.find(alice, at(4, 'copy'))).title, 'new');
  const again = await seen(modules, 1, 'copy');
  t.strictSame(await imported(modules, files, 'copy', false), { added: 0, updated: 3 });
  t.strictSame(await seen(modules, 1, 'copy'), again, 'the same once more changes nothing');
});

t.test('a number that another issue has is refused before anything is written', async (t) => {
  const modules = await openIssues(t);
  const { issues, repositories, alice } = modules;
  await full(modules);
  await repositories.create(alice, { owner: 'alice', name: 'busy', visibility: 'PUBLIC' });
  await issues.open(alice, { owner: 'alice', name: 'busy' }, { title: 'mine' });
  const files = await exported(modules);
  t.equal(await reasonOf(imported(modules, files, 'busy', false)), 'issue_number_taken');
  t.equal((await issues.find(alice, at(1, 'busy'))).title, 'mine');
  t.strictSame(await issues.listLabels(alice, { owner: 'alice', name: 'busy' }), []);
});

t.test('a long log is several files, and comes back as one', async (t) => {
  const modules = await openIssues(t);
  const { issues, db, alice } = modules;
  const { id } = await issues.open(alice, roof, { title: 'long', body: 'first' });
  const body = 'x'.repeat(60_000);
  await db.write(async ({ manager }) => {
    for (let position = 1; position <= 300; position += 1)
      await manager.query(
        `INSERT INTO issue_entries (issue_id, position, kind, body, details, via, revision, created_at, announced_at)
         VALUES (?, ?, 'comment', ?, '{}', 'web', 1, ?, 1)`,
        [id, position, `${position} ${body}`, position],
      );
    await manager.query('UPDATE issues SET last_position = 300, comment_count = 300 WHERE id = ?', [id]);
  });
  const files = await exported(modules);
  t.ok(files.has('issues/1-2.json'));
  t.ok(files.get('issues/1.json')!.length < 17 * 1024 * 1024);
  await imported(modules, files, 'copy');
  const { entries } = await issues.listEntries(alice, at(1, 'copy'), { from: 200 });
  t.equal(entries.at(-1)?.body, `300 ${body}`);
  t.equal((await issues.find(alice, at(1, 'copy'))).commentCount, 300);
  files.delete('issues/1.json');
  t.equal(await reasonOf(imported(modules, files, 'cut')), 'parcel_unreadable');
});

t.test('hostile exports have an error that says where, and change nothing', async (t) => {
  const modules = await openIssues(t);
  const { repositories, alice } = modules;
  await full(modules);
  const good = await exported(modules);
  const one = JSON.parse(good.get('issues/1.json')!.toString()) as Record<string, unknown> & { entries: unknown[] };
  const entry = one.entries[0] as Record<string, unknown>;
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const photo = [...good.keys()].find((path) => path.startsWith('attachments/'))!;
  const cases: [string, Record<string, Buffer | null>, RegExp][] = [
    ['no JSON', { 'issues/1.json': Buffer.from('{"format":1') }, /issues\/1\.json is not JSON/],
    ['no UTF-8', { 'issues/1.json': Buffer.from([0x22, 0xff, 0x22]) }, /not JSON in UTF-8/],
    ['a list', { 'issues/1.json': json([]) }, /issues\/1\.json is not as it should be/],
    ['deep', { 'issues/1.json': Buffer.from(`${'['.repeat(1e5)}${']'.repeat(1e5)}`) }, /issues\/1\.json/],
    ['__proto__', { 'issues.json': Buffer.from('{"__proto__":{"format":1}}') }, /issues\.json/],
    ['huge', { 'issues/1.json': Buffer.alloc(33 * 1024 * 1024, ' ') }, /too large/],
    ['another number', { 'issues/7.json': json(one) }, /issues\/7\.json has the number 1/],
    [
      'another repository',
      { 'issues.json': json({ format: 1, repository: '00000000-0000-4000-8000-000000000000', lastNumber: 1 }) },
      /another repository/,
    ],
    ['number 0', { 'issues/1.json': json({ ...one, number: 0 }) }, /number/],
    ['a number without end', { 'issues/1.json': json({ ...one, number: 1e300 }) }, /number/],
    ['positions twice', { 'issues/1.json': json({ ...one, entries: [entry, entry] }) }, /twice, or out of order/],
    ['no text', { 'issues/1.json': json({ ...one, entries: [] }) }, /no text of the issue/],
    [
      'a kind of entry',
      { 'issues/1.json': json({ ...one, entries: [{ ...entry, kind: 'deploy' }] }) },
      /entries\.0\.kind/,
    ],
    [
      'a text too long',
      { 'issues/1.json': json({ ...one, entries: [{ ...entry, body: 'x'.repeat(65_537) }] }) },
      /longer than 64 KiB/,
    ],
    ['a title that turns around', { 'issues/1.json': json({ ...one, title: 'a\u202eb' }) }, /title/],
    ['a time', { 'issues/1.json': json({ ...one, createdAt: 'yesterday' }) }, /createdAt/],
    ['a part that belongs elsewhere', { 'issues/1-2.json': json({ ...one, part: 3 }) }, /does not belong/],
    ['a part without its first', { 'issues/9-2.json': json({ ...one, number: 9, part: 2 }) }, /lacks a part/],
    ['a colour', { 'labels.json': json([{ name: 'x', colour: 'url(//evil)' }]) }, /labels\.json/],
    [
      'labels without end',
      { 'labels.json': json(Array.from({ length: 1001 }, (_, at) => ({ name: `${at}`, colour: '000000' }))) },
      /labels\.json/,
    ],
    ['a file with other bytes', { [photo]: Buffer.alloc(good.get(photo)!.length) }, /another content/],
    ['a file of another size', { [photo]: Buffer.from('x') }, /another size/],
  ];
  for (const [name, changed, expected] of cases) {
    const files = new Map(good);
    for (const [path, bytes] of Object.entries(changed)) files.set(path, bytes!);
    const error = await imported(modules, files, 'hostile').catch((thrown: unknown) => thrown);
    t.ok(isDomainError(error) && error.reason === 'parcel_unreadable', name);
    t.match((error as Error).message, expected, name);
    t.ok((error as Error).message.length < 600, name);
  }
  t.equal(await reasonOf(repositories.find(alice, 'alice', 'hostile')), 'repository_not_found');

  const odd = new Map(good);
  for (const path of ['issues/..1.json', 'issues/01.json', 'issues/1e3.json', 'issues/1.json.exe', 'issues/-1.json'])
    odd.set(path, Buffer.from('nonsense'));
  odd.delete(photo);
  t.strictSame(await imported(modules, odd, 'odd'), { added: 2, updated: 0 }, 'other names are passed over');
});

t.test('an attachment of an import is what its bytes say, without metadata', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice } = modules;
  await full(modules);
  const files = await exported(modules);
  const path = [...files.keys()].find((name) => name.startsWith('attachments/'))!;
  const page = Buffer.from('<script>alert(1)</script>');
  files.set(path, page);
  const log = files.get('issues/1.json')!.toString();
  const sha256 = createHash('sha256').update(page).digest('hex');
  files.set(
    'issues/1.json',
    Buffer.from(
      log.replace(/"bytes": \d+/, `"bytes": ${page.length}`).replace(/"sha256": "\w+"/, `"sha256": "${sha256}"`),
    ),
  );
  await imported(modules, files, 'odd');
  const [file] = await issues.listAttachments(alice, at(1, 'odd'));
  t.match(file, { contentType: 'application/octet-stream', bytes: page.length });
});

t.test('one issue as JSON and Markdown, for who may read it', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol } = modules;
  await full(modules);
  const text = async (format: 'json' | 'markdown', viewer = carol as typeof bob) =>
    (await all(await issues.exportIssue(viewer, at(1), format))).join('');
  const json = JSON.parse(await text('json')) as Record<string, unknown>;
  t.match(json, { number: 1, title: 'It rains in', author: { name: 'bob' }, milestone: 'Autumn' });
  t.notMatch(JSON.stringify(json), new RegExp(bob.id), 'no ids of people');
  const markdown = await text('markdown');
  t.match(
    markdown,
    /^# It rains in \(#1\)\n\nClosed \(completed\), opened by bob on 2026-01-01 12:00 UTC\nLabels: kind\/bug\n/,
  );
  t.match(markdown, /\n\*\*carol\*\* commented on .* \(edited\)\n\nMine \*\*too\*\*\n/);
  t.match(markdown, /\* alice closed this as completed on /);
  t.notMatch(markdown, /edited this/);
  t.equal(await reasonOf(issues.exportIssue(bob, at(3), 'json')), 'issue_not_found', 'in the trash');
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
});
