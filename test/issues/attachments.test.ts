// Files of issues: who sees them when, what removes them, quota and rates.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { attachmentMarkdown } from '../../src/issues/index.ts';
import type { Attachment } from '../../src/issues/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import { sampleImages } from '../images/sample-images.ts';
import { anonymous, at, openIssues, reasonOf, roof } from './issues-fixture.ts';
import type { IssueModules } from './issues-fixture.ts';

const dayMs = 86_400_000;

async function* chunks(...chunks: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const add = (
  { issues }: Pick<IssueModules, 'issues'>,
  viewer: Viewer,
  content: string | Buffer = 'hello',
  name = 'notes.txt',
  where = roof,
): Promise<Attachment> => issues.addAttachment(viewer, where, { name, content: chunks(content) });

const sees = ({ issues }: Pick<IssueModules, 'issues'>, viewer: Viewer, { id }: Attachment): Promise<string> =>
  reasonOf(issues.findAttachment(viewer, id));

const shows = (attachment: Attachment): string => `see ${attachmentMarkdown(attachment, roof)}`;

/** All objects of the store. */
const stored = ({ folder }: Pick<IssueModules, 'folder'>): string[] =>
  readdirSync(path.join(folder, 'objects', 'attachments'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

t.test('a file is its uploader’s alone until a text shows it, and then as the issue', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol } = modules;
  const file = await add(modules, bob);
  t.match(file, { name: 'notes.txt', bytes: 5, contentType: 'application/octet-stream', issueId: null });
  t.equal(await sees(modules, bob, file), 'accepted');
  for (const other of [alice, carol, anonymous]) t.equal(await sees(modules, other, file), 'attachment_not_found');
  t.equal(await reasonOf(issues.findAttachment(alice, 'nonsense')), 'attachment_not_found', 'the same as absent');

  await issues.open(alice, roof, { title: 'by another', body: shows(file) });
  t.equal(await sees(modules, alice, file), 'attachment_not_found', 'who knows the address publishes nothing');
  await issues.open(bob, roof, { title: 'leak', body: shows(file) });
  t.equal(await sees(modules, anonymous, file), 'accepted');
  const { attachment, repository } = await issues.findAttachment(anonymous, file.id);
  t.strictSame(repository, roof);
  t.equal((await buffer((await issues.readAttachment(attachment)).stream)).toString(), 'hello');
  t.equal((await buffer((await issues.readAttachment(attachment, { first: 1, last: 3 })).stream)).toString(), 'ell');
  t.strictSame(
    (await issues.listAttachments(anonymous, at(2))).map(({ id }) => id),
    [file.id],
  );
});

t.test('a file of a PRIVATE repository is hidden from who may not read it', async (t) => {
  const modules = await openIssues(t);
  const { issues, repositories, alice, bob } = modules;
  const cellar = { owner: 'alice', name: 'cellar' };
  await repositories.create(alice, { ...cellar, visibility: 'PRIVATE' });
  const file = await add(modules, alice, 'secret', 'plan.txt', cellar);
  await issues.open(alice, cellar, { title: 'plan', body: attachmentMarkdown(file, cellar) });
  t.equal(await sees(modules, alice, file), 'accepted');
  for (const other of [bob, anonymous]) t.equal(await sees(modules, other, file), 'attachment_not_found');
  t.equal(await reasonOf(add(modules, bob, 'x', 'x', cellar)), 'repository_not_found');
  await repositories.changeVisibility(alice, 'alice', 'roof', 'PRIVATE');
  const own = await add(modules, alice);
  await issues.open(alice, roof, { title: 'now hidden', body: shows(own) });
  t.equal(await sees(modules, bob, own), 'attachment_not_found');
});

t.test('a text that waits for a member shows its files to nobody else', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol } = modules;
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
  await issues.open(alice, roof, { title: 'known' });
  const file = await add(modules, carol);
  await issues.comment(carol, at(1), { body: shows(file) });
  t.equal(await sees(modules, carol, file), 'accepted');
  for (const other of [alice, bob, anonymous]) t.equal(await sees(modules, other, file), 'attachment_not_found');
  await issues.admit(alice, roof, carol.id);
  t.equal(await sees(modules, anonymous, file), 'accepted');
});

t.test(
  'an issue in the trash hides its files; purged, it takes them along, but for those that others show',
  async (t) => {
    const modules = await openIssues(t);
    const { issues, alice, bob, clock } = modules;
    const [own, shared] = [await add(modules, bob, 'own'), await add(modules, bob, 'shared')];
    await issues.open(bob, roof, { title: 'one', body: `${shows(own)} ${shows(shared)}` });
    await issues.open(bob, roof, { title: 'two', body: shows(shared) });
    await issues.trash(alice, at(1));
    t.equal(await sees(modules, bob, own), 'attachment_not_found');
    t.equal(await sees(modules, bob, shared), 'accepted', 'the other issue shows it');
    await issues.restore(alice, at(1));
    t.equal(await sees(modules, bob, own), 'accepted');
    await issues.trash(alice, at(1));
    await issues.purge(alice, at(1));
    t.equal(await sees(modules, bob, shared), 'accepted');
    t.equal(stored(modules).length, 2, 'bytes go with the job');
    clock.set(Date.now() + 2 * dayMs);
    t.strictSame(await issues.removeUnusedAttachments(), { rows: 0, objects: 1 });
    t.strictSame(stored(modules), [shared.id]);
    await issues.trash(alice, at(2));
    clock.advance(40 * dayMs);
    t.equal(await issues.emptyTrash(), 1);
    t.strictSame(await issues.removeUnusedAttachments(), { rows: 0, objects: 1 });
  },
);

t.test('what no text shows any more goes after its time; drafts, revisions and what waits keep theirs', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol, clock } = modules;
  await issues.open(bob, roof, { title: 'one' });
  const names = ['left', 'draft', 'comment', 'edited', 'held'];
  const files = Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [name, await add(modules, name === 'held' ? carol : bob, name)] as const),
    ),
  ) as Record<string, Attachment>;
  await issues.saveDraft(bob, 'new:roof', shows(files['draft']!));
  const comment = await issues.comment(bob, at(1), { body: shows(files['comment']!) });
  const edited = await issues.comment(bob, at(1), { body: `first ${shows(files['edited']!)}` });
  await issues.editText(bob, at(1), { position: edited.position, body: 'nothing more', revision: 1 });
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
  await issues.comment(carol, at(1), { body: shows(files['held']!) });
  t.strictSame(await issues.removeUnusedAttachments(), { rows: 0, objects: 0 }, 'forms may be open');

  await issues.deleteComment(bob, at(1), comment.position);
  t.equal(await sees(modules, alice, files['comment']!), 'attachment_not_found', 'gone with its text, at once');
  clock.set(Date.now() + 2 * dayMs);
  t.equal((await issues.removeUnusedAttachments()).rows, 2);
  for (const name of ['left', 'comment']) t.equal(await sees(modules, bob, files[name]!), 'attachment_not_found', name);
  for (const name of ['draft', 'edited']) t.equal(await sees(modules, bob, files[name]!), 'accepted', name);
  t.equal(await sees(modules, carol, files['held']!), 'accepted');
  t.equal(stored(modules).length, 5, 'a backup that runs meanwhile misses nothing');
  t.strictSame(await issues.removeUnusedAttachments(), { rows: 0, objects: 2 });
  t.equal(stored(modules).length, 3);
});

t.test('a file moves with its issue, and is found under its old address', async (t) => {
  const modules = await openIssues(t);
  const { issues, repositories, alice, bob } = modules;
  const attic = { owner: 'alice', name: 'attic' };
  await repositories.create(alice, { ...attic, visibility: 'PRIVATE' });
  const file = await add(modules, bob);
  await issues.open(bob, roof, { title: 'one', body: shows(file) });
  await issues.move(alice, at(1), attic);
  t.strictSame((await issues.findAttachment(alice, file.id)).repository, attic);
  t.equal(await sees(modules, bob, file), 'attachment_not_found', 'its uploader may not read it there');
});

t.test('types are what the bytes say, and images lose their metadata', async (t) => {
  const modules = await openIssues(t);
  const { alice } = modules;
  for (const [type, bytes] of Object.entries(sampleImages))
    t.equal((await add(modules, alice, bytes, 'x.html')).contentType, type);
  t.equal((await add(modules, alice, '<svg onload=alert(1)>', 'x.png')).contentType, 'application/octet-stream');
  const png = sampleImages['image/png'];
  const text = Buffer.concat([Buffer.from([0, 0, 0, 5]), Buffer.from('tEXtcarol'), Buffer.alloc(4)]);
  const file = await add(modules, alice, Buffer.concat([png.subarray(0, 33), text, png.subarray(33)]), 'photo.png');
  t.equal(file.bytes, png.length);
  t.equal(await reasonOf(add(modules, alice, png.subarray(0, 40))), 'image_damaged');
  t.equal(await reasonOf(add(modules, alice, '')), 'attachment_empty');
  t.equal(stored(modules).length, 6);
});

t.test('names are kept readable and harmless', async (t) => {
  const modules = await openIssues(t);
  const { alice } = modules;
  const named = async (name: string): Promise<string> => (await add(modules, alice, 'x', name)).name;
  t.equal(await named('C:\\Users\\alice\\plan.txt'), 'plan.txt');
  t.equal(await named('../../etc/passwd'), 'passwd');
  t.equal(await named('a\u202etxt.exe\r\n'), 'atxt.exe');
  for (const empty of ['', '..', '/', '\u200e']) t.equal(await named(empty), 'file');
  const long = await named(`${'ä'.repeat(400)}.tar.gz`);
  t.equal([...long].length, 200);
  t.match(long, /\.tar\.gz$/);
  const odd = await add(modules, alice, sampleImages['image/png'], 'a](javascript:x) [b*.png');
  t.equal(attachmentMarkdown(odd, roof), `![a\\](javascript:x) \\[b\\*.png](/repos/alice/roof/attachments/${odd.id})`);
});

t.test('limits: size while it comes, quota of the repository, files that no text shows, rates', async (t) => {
  const modules = await openIssues(t, { settings: { attachmentBytes: 100, attachmentsPerRepositoryBytes: 250 } });
  const { issues, alice, bob, clock } = modules;
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      sent += 10;
      yield Buffer.alloc(10, 'x');
    }
  }
  t.equal(await reasonOf(issues.addAttachment(bob, roof, { name: 'x', content: endless() })), 'attachment_too_large');
  t.ok(sent <= 120, 'the rest is not read');
  await add(modules, bob, 'x'.repeat(100));
  await add(modules, bob, 'x'.repeat(100));
  t.equal(await reasonOf(add(modules, bob, 'x'.repeat(51))), 'attachment_quota');
  await add(modules, bob, 'x'.repeat(50));
  t.equal(await reasonOf(add(modules, alice, 'x')), 'attachment_quota', 'it is the repository’s');
  t.equal(stored(modules).length, 3, 'what was refused is gone');

  const wide = modules.beside({ perPerson: { perMinute: 1_000, perHour: 1_000 } });
  for (let count = 3; count < 100; count += 1)
    await wide.addAttachment(bob, roof, { name: 'x', content: chunks('x') }).catch(async (error: unknown) => {
      throw error;
    });
  t.equal(
    await reasonOf(wide.addAttachment(bob, roof, { name: 'x', content: chunks('x') })),
    'too_many_unused_attachments',
  );
  const slow = modules.beside({ perPerson: { perMinute: 1, perHour: 10 } });
  const one = () => reasonOf(slow.addAttachment(modules.carol, roof, { name: 'x', content: chunks('x') }));
  t.equal(await one(), 'accepted');
  t.equal(await one(), 'too_many_contributions');
  clock.advance(60_000);
  t.equal(await one(), 'accepted');
});

t.test('who may not contribute may not attach, and a token without the right neither', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol } = modules;
  t.equal(await reasonOf(add(modules, anonymous)), 'sign_in_required');
  t.equal(await reasonOf(add(modules, { ...bob, scope: 'read' })), 'token_may_not_write');
  await issues.block(alice, { owner: 'alice', username: 'carol' });
  t.equal(await reasonOf(add(modules, carol)), 'blocked_by_owner');
  await issues.changeSettings(alice, roof, { issuesFrom: 'members' });
  t.equal(await reasonOf(add(modules, bob)), 'members_only');
  t.equal(await reasonOf(add(modules, alice)), 'accepted');
});

t.test('programs attach to an issue: its text shows the file; who uploaded it removes it', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol } = modules;
  await issues.open(bob, roof, { title: 'one', body: 'It leaks.' });
  const attach = (viewer: Viewer) => issues.attach(viewer, at(1), { name: 'log.txt', content: chunks('drip') });
  t.equal(await reasonOf(attach(carol)), 'not_allowed_on_issue');
  const [first, second] = [await attach(bob), await attach(alice)];
  const { entries } = await issues.listEntries(anonymous, at(1));
  t.equal(
    entries[0]?.body,
    ['It leaks.', ...[first, second].map((file) => attachmentMarkdown(file, roof))].join('\n\n'),
  );
  t.strictSame(
    (await issues.listAttachments(anonymous, at(1))).map(({ id }) => id).toSorted(),
    [first.id, second.id].toSorted(),
  );
  t.equal(await reasonOf(issues.removeAttachment(carol, at(1), first.id)), 'not_allowed_on_issue');
  await issues.removeAttachment(bob, at(1), first.id);
  t.equal(await reasonOf(issues.findAttachmentOf(bob, at(1), first.id)), 'attachment_not_found');
  t.equal(await sees(modules, anonymous, second), 'accepted');
});

t.test('a text shows a hundred files: one more is refused before anything is stored', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, db } = modules;
  const line = (number: number) =>
    `![x](/repos/alice/roof/attachments/00000000-0000-4000-8000-${String(number).padStart(12, '0')})`;
  const lines = (count: number) => Array.from({ length: count }, (_, index) => line(index)).join('\n');
  const stored = async () => (await db.read.query('SELECT count(*) AS n FROM attachments'))[0].n as number;
  t.equal(await reasonOf(issues.open(bob, roof, { title: 'x', body: lines(101) })), 'too_many_attachments');
  await issues.open(bob, roof, { title: 'full', body: `${lines(100)}\n${line(7)}` });
  const attach = (viewer: Viewer, number: number) =>
    reasonOf(issues.attach(viewer, at(number), { name: 'log.txt', content: chunks('drip') }));
  t.equal(await attach(bob, 1), 'too_many_attachments');
  t.equal(await stored(), 0);
  await issues.open(bob, roof, { title: 'nearly', body: lines(99) });
  t.equal(await attach(alice, 2), 'accepted');
  t.equal(await attach(alice, 2), 'too_many_attachments');
  t.equal(await stored(), 1);
  t.equal(await reasonOf(issues.comment(bob, at(2), { body: lines(101) })), 'too_many_attachments', 'a comment, too');
  t.equal(await reasonOf(issues.comment(bob, at(2), { body: lines(100) })), 'accepted');
});
