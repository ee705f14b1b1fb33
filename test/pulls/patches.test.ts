// Patches that become pull requests: mails of git format-patch and changes alone, hostile ones, next rounds.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import t from 'tap';
import { isDomainError } from '../../src/kernel/index.ts';
import type { ProposedPatch } from '../../src/pulls/index.ts';
import { roof } from '../issues/issues-fixture.ts';
import { at, commit, lines, openPulls, pushTip, tipOf } from './pulls-fixture.ts';

const modules = await openPulls(t);
const { pulls, issues, path, base, alice, bob, carol, db } = modules;

const git = (...args: string[]): Buffer => execFileSync('git', [`--git-dir=${path}`, ...args], { stdio: 'pipe' });
const show = (...args: string[]): string =>
  git(...args)
    .toString()
    .trim();
const mails = (range: string, ...options: string[]): Buffer => git('format-patch', '--stdout', ...options, range);
const propose = (patch: Buffer | string, more: Partial<ProposedPatch> = {}, viewer = carol) =>
  pulls.proposePatch(viewer, roof, { patch: Buffer.from(patch as string), ...more });
const refusal = async (patch: Buffer | string, more: Partial<ProposedPatch> = {}, viewer = carol): Promise<string> => {
  const error = await propose(patch, more, viewer).then(
    ({ number }) => new Error(`opened ${number}`),
    (thrown: unknown) => thrown as Error,
  );
  return isDomainError(error) ? `${error.reason}: ${error.message}` : String(error);
};
const headOf = async (number: number) => (await pulls.find(alice, at(number))).pull;

const one = commit(path, {
  parents: [base],
  files: { 'a.txt': lines('a').replace('a 3', 'a three') },
  message: 'Write three\n\nAs a word: ü.',
  author: 'zoë',
});
const two = commit(path, {
  parents: [one],
  files: { 'new/c.txt': 'c\r\nd\r\n', 'b.txt': lines('b', 4) },
  message: 'Bring c',
});

t.test('each mail is a commit with its author and date, by the one who sends it', async (t) => {
  const { number, round } = await propose(mails(`${base}..${two}`, '--cover-letter', '--base', base));
  t.equal(round, 1);
  const { pull, issue } = await pulls.find(alice, at(number));
  t.match(pull, { source: 'PUSH', baseBranch: 'main', baseOid: base, lastRound: 1 });
  t.equal(await tipOf(modules, path, `refs/pull/${number}/head`), pull.headOid);
  const log = (head: string) =>
    show('log', '--reverse', '--format=%T %an <%ae> %aI%n%B', `${base}..${head}`).replace(/\n+/g, '\n');
  t.equal(log(pull.headOid), log(two), 'trees, authors, dates and messages');
  const me = await modules.accounts.addresses.identityOrServer(carol.id);
  t.equal(show('log', '-1', '--format=%cn <%ce>', pull.headOid), `${me.name} <${me.email}>`);
  t.equal(issue.title, '*** SUBJECT HERE ***', 'of the cover letter');
  const [described] = await issues.describe([issue]);
  t.match(described?.body, /BLURB HERE/);
  t.notMatch(described?.body, /^-- $/m);
  t.equal((await pulls.rounds.list(alice, at(number)))[0]?.submitterId, carol.id);

  const single = await propose(mails(`${base}..${one}`), { title: 'Mine', isDraft: true });
  const opened = await pulls.find(alice, at(single.number));
  t.match((await issues.describe([opened.issue]))[0], { title: 'Mine', body: 'As a word: ü.' });
  t.equal(opened.pull.isDraft, true);
});

t.test('a later patch is the next round, of its author', async (t) => {
  const { number } = await propose(mails(`${base}..${one}`));
  const first = await headOf(number);
  const { number: ofBob } = await propose(mails(`${base}..${one}`), {}, bob);
  t.match(await refusal(mails(`${base}..${two}`), { pull: ofBob }), /^not_your_pull/);
  t.match(await propose(mails(`${base}..${two}`), { pull: number }), { number, round: 2 });
  const second = await headOf(number);
  t.not(second.headOid, first.headOid);
  t.equal(await tipOf(modules, path, `refs/pull/${number}/head`), second.headOid);
  t.equal(show('rev-list', '--count', `${base}..${second.headOid}`), '2');
  await issues.close(carol, at(number));
  t.match(await refusal(mails(`${base}..${one}`), { pull: number }), /^pull_not_open/);
  t.match(await refusal(mails(`${base}..${one}`), { pull: 999 }), /^pull_not_found/);
});

t.test('the base commit that a mail names, and changes alone', async (t) => {
  const moved = commit(path, { parents: [base], files: { 'a.txt': lines('other') }, message: 'Move on' });
  await pushTip(modules, alice, 'alice/roof', 'main', moved);
  t.match(
    await refusal(mails(`${base}..${one}`)),
    /^patch_conflict: The patch cannot be applied: a\.txt: the hunk at line 1 does not fit the file\.$/,
  );
  t.match(
    await refusal(mails(`${base}..${two}`)),
    /^patch_conflict: Mail 1 \(“Write three”\) cannot be applied: a\.txt: /,
  );
  const { number } = await propose(mails(`${base}..${one}`, '--base', base));
  t.equal(show('rev-parse', `${(await headOf(number)).headOid}^`), base);
  const hidden = commit(path, { files: { 'secret.txt': 's\n' }, message: 'Hidden' });
  const onHidden = Buffer.concat([mails(`${base}..${two}`, '-1'), Buffer.from(`\nbase-commit: ${hidden}\n`)]);
  const other = await propose(onHidden);
  t.equal(show('rev-parse', `${(await headOf(other.number)).headOid}^`), moved, 'no commit that the branch lacks');

  const diff = git(
    'diff',
    moved,
    commit(path, { parents: [moved], files: { 'd.bin': '\0\x01\x02'.repeat(99) }, message: 'x' }),
    '--binary',
  );
  t.match(await refusal(diff), /^title_missing/);
  const plain = await propose(diff, { title: 'Bring a binary', body: 'Its reason.' }, bob);
  const { headOid } = await headOf(plain.number);
  t.equal(
    show('log', '-1', '--format=%an|%s|%b', headOid),
    `${show('log', '-1', '--format=%cn', headOid)}|Bring a binary|Its reason.`,
  );
  t.equal(git('cat-file', 'blob', `${headOid}:d.bin`).length, 297);
});

const mail = (body: string, headers = '') =>
  `From: Zoe <zoe@example.org>\nDate: Thu, 1 Jan 2026 10:00:00 +0200\nSubject: [PATCH] Try it\n${headers}\n${body}`;
const adds = (name: string, content = 'x', mode = '100644') =>
  `---\ndiff --git a/${name} b/${name}\nnew file mode ${mode}\nindex 0000000..1111111\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${content}\n-- \n2.39.5\n`;

t.test('encodings of mails', async (t) => {
  const logOf = async (patch: Buffer | string) => {
    const { number } = await propose(patch, {}, bob);
    const { headOid } = await headOf(number);
    return `${show('log', '-1', '--format=%an|%aI|%s|%b', headOid)}|${git('show', `${headOid}:f.txt`).toString()}`;
  };
  const head = 'Zoe|2026-01-01T10:00:00+02:00|Try it|';
  t.equal(await logOf(mail(`Why.\n${adds('f.txt')}`)), `${head}Why.|x\n`);
  const quoted = adds('f.txt', 'a=3Db=C3=BC=\nlong');
  const encoded = 'Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: quoted-printable\n';
  t.equal(await logOf(mail(quoted, `MIME-Version: 1.0\n${encoded}`)), `${head}|a=bülong\n`);
  const base64 = Buffer.from(adds('f.txt', 'ß'))
    .toString('base64')
    .replace(/.{1,76}/g, '$&\n');
  t.equal(await logOf(mail(base64, encoded.replace('quoted-printable', 'base64'))), `${head}|ß\n`);
  const latin = Buffer.from(
    mail(`Gr\xfc\xdfe.\n${adds('f.txt')}`, 'Content-Type: text/plain; charset=ISO-8859-1\n'),
    'latin1',
  );
  t.equal(await logOf(latin), `${head}Grüße.|x\n`);
  t.equal(await logOf(Buffer.from(mail(`Gr\xfc.\n${adds('f.txt')}`), 'latin1')), `${head}Grü.|x\n`, 'no character set');
  t.equal(await logOf(mail(adds('f.txt')).replaceAll('\n', '\r\n')), `${head}|x\n`, 'as a form sends it');
  t.equal(await logOf(mail(adds('f.txt', 'x\r'))), `${head}|x\r\n`, 'the CR of a file is kept');
  const name = '=?UTF-8?q?Zo=C3=AB_B?= <zoe@example.org>';
  t.match(await logOf(mail(adds('f.txt')).replace('Zoe <zoe@example.org>', name)), /^Zoë B\|/);
  const strange = mail(`Gr\xfc.\n${adds('f.txt')}`, 'Content-Type: text/plain; charset=klingon\n');
  t.equal(await logOf(Buffer.from(strange, 'latin1')), `${head}Grü.|x\n`, 'an unknown character set');
});

t.test('hostile and broken patches change nothing', async (t) => {
  const before = show('for-each-ref').split('\n').length;
  const cases: [string, Buffer | string, RegExp][] = [
    ['above the repository', mail(adds('../x')), /^patch_conflict: .*invalid path/],
    ['absolute', mail(adds('/etc/x')), /^patch_conflict: .*invalid path/],
    ['.git', mail(adds('.git/config')), /^patch_conflict: .*invalid path/],
    ['.GIT', mail(adds('sub/.GIT/hooks/x')), /^patch_conflict: .*invalid path/],
    ['git~1', mail(adds('git~1/x')), /^(?:patch_conflict: .*invalid path|invalid_path)/],
    ['a symbolic link', mail(adds('link', '/etc/passwd', '120000')), /^patch_link: link is a symbolic link/],
    ['a submodule', mail(adds('sub', `Subproject commit ${base}`, '160000')), /^patch_link: sub is a submodule/],
    ['.gitmodules', mail(adds('.gitmodules', '[submodule "../x"] path = x')), /^invalid_git_file/],
    [
      'no such file',
      mail(adds('n.txt').replace('new file mode 100644\n', '').replace('/dev/null', 'a/n.txt')),
      /^patch_conflict: .*n\.txt/,
    ],
    [
      'cut',
      mails(`${base}..${two}`).subarray(0, 700),
      /^patch_conflict: .*corrupt patch at line \d+\.$|^patch_conflict/,
    ],
    ['nothing', ' \n', /^patch_missing/],
    ['no changes', mail('Hello.\n'), /^no_changes/],
    ['not a patch', 'Hello.\n', /^patch_missing: This is not a patch/],
    ['no author', mail(adds('f.txt')).replace(/^From.*\n/, ''), /^bad_mail: Email 1 .* no author/],
    [
      'too many mails',
      `${`From ${base} Mon Sep 17 00:00:00 2001\n${mail(adds('f.txt'))}\n`.repeat(101)}`,
      /^patch_too_large/,
    ],
    ['too large', Buffer.alloc(5 * 1024 * 1024, 'x'), /^patch_too_large/],
    [
      'a second mail that does not fit',
      `${[1, 2].map(() => `From ${base} Mon Sep 17 00:00:00 2001\n${mail(adds('f.txt'))}\n`).join('')}`,
      /^patch_conflict: Mail 2 .*f\.txt: this file is there already/,
    ],
  ];
  for (const [name, patch, expected] of cases) t.match(await refusal(patch, {}, bob), expected, name);
  t.match(await refusal(mail(adds('f.txt')), { base: 'nowhere' }), /^base_missing/);
  t.equal(show('for-each-ref').split('\n').length, before, 'no ref');
  t.strictSame(
    readdirSync(`${path}/objects`).filter((name) => name.startsWith('tmp_')),
    [],
    'no folder is left',
  );
  t.equal(
    await db.read.query("SELECT count(*) AS n FROM pulls WHERE source <> 'PUSH'").then(([{ n }]) => Number(n)),
    0,
  );
});

t.test('a person without the right to write has at most twenty open ones', async (t) => {
  let last = '';
  for (let count = 0; count < 21 && last === ''; count += 1)
    last = await propose(mail(adds(`many-${count}.txt`))).then(
      () => '',
      (error: unknown) => (isDomainError(error) ? error.reason : String(error)),
    );
  t.equal(last, 'too_many_pulls');
});
