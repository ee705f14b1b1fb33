// Changing files on pages: what the forms show and send, conflicts, rules, proposals, uploads, and bytes that are kept.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { measureCpuTime } from '../../fixtures/thread-cpu.ts';
import { editorConfigOf } from '../../../src/pages/code/editor-config.ts';
import { encodeEditedText, readEditable } from '../../../src/pages/editing/editable-text.ts';
import { upload } from '../../fixtures/upload.ts';
import { fillRepository, extractMain, sendRequest, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';
import type { Owner } from '../../fixtures/temporary-folder.ts';
import { viewerOf } from '../issues/issues-fixture.ts';

t.setTimeout(180_000);

t.test('what a text area can have, and the bytes after it', async (t) => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  t.same(readEditable(bytes('a\nb\n')), { text: 'a\nb\n', ending: 'lf', hasMark: false });
  t.same(readEditable(bytes('\xef\xbb\xbfa\r\nb')), { text: 'a\nb', ending: 'crlf', hasMark: true });
  t.same(readEditable(bytes('')), { text: '', ending: 'none', hasMark: false });
  for (const [content, why] of [
    ['a\0b', /^Binary files/],
    ['caf\xe9', /not UTF-8/],
    ['a\rb\n', /carriage returns/],
    ['x'.repeat(1024 * 1024 + 1), /larger than 1 MiB/],
  ] as const)
    t.match((readEditable(bytes(content)) as { reason: string }).reason, why);
  t.match((readEditable(null) as { reason: string }).reason, /larger/);
  const typed = (text: string, before: string | null, newLines: 'lf' | 'crlf' = 'lf', insertsFinalNewline = false) =>
    encodeEditedText(text, before === null ? null : bytes(before), { newLines, insertsFinalNewline }).toString(
      'latin1',
    );
  t.equal(typed('a\nc\n', 'a\r\nb\r\n'), 'a\r\nc\r\n', 'CRLF stays');
  t.equal(typed('a\nc\n', 'a\nb\n', 'crlf'), 'a\nc\n', 'so does LF, whatever the settings say of new files');
  t.equal(typed('x', '\xef\xbb\xbfa\n'), '\xef\xbb\xbfx', 'a byte-order mark stays');
  t.equal(typed('a\nb\nX\nc\nd\n', 'a\r\nb\nc\r\nd\n'), 'a\r\nb\nX\nc\r\nd\n', 'lines that are as before keep theirs');
  t.equal(typed('A\nb\n', 'a\r\nb\n'), 'A\r\nb\n', 'so does a line that is changed');
  t.equal(typed('a\nB\nC\nd\n', 'a\nb\r\nc\nd\r\n'), 'a\nB\r\nC\nd\r\n', 'and each of several');
  t.equal(typed('a\nB\nB2\nc\n', 'a\nb\r\nc\n'), 'a\nB\r\nB2\r\nc\n', 'one that becomes two');
  t.equal(typed('a\nb\nX', 'a\r\nb\nx', 'crlf'), 'a\r\nb\nX', 'the last line has none');
  t.equal(typed('a\nb\nc\nd\n', 'a\r\nb\nc\r\nd\n'), 'a\r\nb\nc\r\nd\n');
  t.equal(typed('a\n', 'a\r\nb\nc\r\n'), 'a\r\n');
  t.equal(typed('a\nb', null, 'crlf', true), 'a\r\nb\r\n');
  t.equal(typed('', null, 'lf', true), '');
  t.equal(typed('a', 'a\n', 'lf', true), 'a\n');
});

t.test('.editorconfig', async (t) => {
  const config = (text: string, path: string, more: { folder: string; text: string }[] = []) =>
    editorConfigOf([...more, { folder: '', text }], path);
  const tabs = '[*]\nindent_style = tab\n';
  t.same(config(tabs, 'a/b.c'), { indentStyle: 'tab' });
  t.same(config('[*.{js,ts}]\nindent_size=2\n[*.ts]\nend_of_line=CRLF', 'src/x.ts'), {
    indentSize: 2,
    endOfLine: 'crlf',
  });
  t.same(config('[*.{js,ts}]\nindent_size=2', 'x.py'), {});
  t.same(config('[lib/**.js]\ninsert_final_newline=true', 'lib/a/b.js'), { insertFinalNewline: true });
  t.same(config('[lib/*.js]\ninsert_final_newline=true', 'lib/a/b.js'), {});
  t.same(config('[/Makefile]\nindent_style=tab', 'Makefile'), { indentStyle: 'tab' });
  t.same(config('[/Makefile]\nindent_style=tab', 'a/Makefile'), {});
  t.same(config('[file{1..3}.txt]\nindent_size=3', 'file2.txt'), { indentSize: 3 });
  t.same(config('[[ab]?.txt]\nindent_size=3', 'bx.txt'), { indentSize: 3 });
  t.same(config('[[!ab].txt]\nindent_size=3', 'a.txt'), {});
  t.same(config('; x\n# y\n[*]\nindent_size=99\nend_of_line=cr\nnonsense', 'a'), {}, 'what is no value');
  const nearer = { folder: 'sub', text: '[*]\nindent_size=2' };
  t.same(config('[*]\nindent_size=4\nindent_style=space', 'sub/a', [nearer]), { indentSize: 2, indentStyle: 'space' });
  t.same(config('[*]\nindent_size=4', 'sub/a', [{ ...nearer, text: `root = true\n${nearer.text}` }]), {
    indentSize: 2,
  });
  const { cpuMs } = await measureCpuTime(() => {
    config(`[${'*a'.repeat(99)}]\nindent_size=2\n`.repeat(200), 'a'.repeat(1_000));
    config(`[{${'a,'.repeat(90)}}{${'*'.repeat(20)}}]\nindent_size=2\n`.repeat(200), 'a'.repeat(1_000));
  });
  t.ok(cpuMs < 2_000, `patterns that are made to hurt: ${cpuMs} ms`);
});

/** alice has the public roof, where bob writes and carol reads. */
async function openRoof(t: Owner) {
  const web = await startWeb(t);
  const { repositories } = web.modules;
  const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((name) => signedIn(web, name)));
  const viewer = viewerOf(alice!.id, 'alice');
  await repositories.create(viewer, { name: 'roof', visibility: 'PUBLIC' });
  await repositories.collaborators.add(viewer, 'alice', 'roof', { username: 'bob', role: 'write' });
  const { path: folder } = await repositories.find(viewer, 'alice', 'roof');
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${folder}`, ...args])
      .toString()
      .trimEnd();
  return {
    web,
    viewer,
    folder,
    git,
    alice: alice!,
    bob: bob!,
    carol: carol!,
    fill: (files: Record<string, string | Buffer>) => fillRepository(t, folder, files),
    commit: (files: [string, string][]) =>
      repositories.contents.change(viewer, 'alice', 'roof', {
        operations: files.map(([path, text]) => ({ kind: 'put', path, content: Buffer.from(text) })),
      }),
    rule: async () => {
      const [rule] = await repositories.rules.list(viewer, 'alice', 'roof');
      await repositories.rules.change(viewer, 'alice', 'roof', rule!.id, { grants: { push: { level: 'admin' } } });
    },
  };
}

const roof = '/repos/alice/roof';
const field = ({ body }: PageResponse, name: string): string =>
  new RegExp(`<input[^>]* name="${name}"[^>]* value="([^"]*)"`).exec(body)?.[1] ?? '';
const text = (response: PageResponse): string =>
  extractMain(response)
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ');

t.test('a file is edited, renamed, made and deleted, and the deletion reverted', async (t) => {
  const { web, bob, git, fill } = await openRoof(t);
  await fill({
    'README.md': '# Roof\r\n\r\nTiles\r\n',
    'src/a.js': 'a\n',
    '.editorconfig': '[*.js]\nindent_size = 2\nindent_style = space\ninsert_final_newline = true\n',
  });
  const page = await bob.get(`${roof}/edit/main/README.md`);
  t.equal(page.status, 200);
  t.match(page.body, /<textarea[^>]*id="content"[^>]*>\n# Roof\n\nTiles\n<\/textarea>/);
  t.match(page.body, /lines end with CRLF/);
  const blob = field(page, 'blob');
  const form = {
    path: 'README.md',
    blob,
    text: '# Roof\r\n\r\nSlate\r\n',
    message: '',
    description: '',
    target: 'branch',
    new_branch: '',
  };
  const diff = await bob.post(`${roof}/edit/main/README.md`, { ...form, action: 'diff' });
  t.match([diff.status, text(diff)], [200, /Slate/]);
  t.match(diff.body, /class="[^"]*\bnew\b|is-added|row-added|added/);
  const preview = await bob.post(`${roof}/edit/main/README.md`, { ...form, action: 'preview' });
  t.match(
    preview.body,
    /text-preview[^]*<h2 id="user-content-roof"><a class="anchor" href="#user-content-roof" aria-label="Link to this heading"><\/a>Roof<\/h2>/,
  );
  t.equal(git('rev-list', '--count', 'main'), '1', 'nothing is committed by a look');
  const saved = await bob.post(`${roof}/edit/main/README.md`, {
    ...form,
    message: 'Slate',
    description: 'It lasts.',
    action: 'commit',
  });
  t.match([saved.status, saved.headers.location], [303, `${roof}/blob/main/README.md?done=file-saved`]);
  t.equal(git('cat-file', '-s', 'main:README.md'), String('# Roof\r\n\r\nSlate\r\n'.length));
  t.equal(git('show', '-s', '--format=%B|%an', 'main'), 'Slate\n\nIt lasts.\n|bob');
  t.match(text(await bob.get(saved.headers.location!)), /The file has been saved/);

  const again = await bob.post(`${roof}/edit/main/README.md`, {
    ...form,
    blob: git('rev-parse', 'main:README.md'),
    action: 'commit',
  });
  t.match([again.status, text(again)], [409, /nothing to commit/]);
  const moved = await bob.post(`${roof}/edit/main/src/a.js`, {
    ...form,
    path: 'lib/b.js',
    blob: git('rev-parse', 'main:src/a.js'),
    text: 'b',
    action: 'commit',
  });
  t.equal(moved.headers.location, `${roof}/blob/main/lib/b.js?done=file-saved`);
  t.equal(git('cat-file', '-p', 'main:lib/b.js'), 'b');
  t.equal(git('cat-file', '-s', 'main:lib/b.js'), '2', 'the final newline of .editorconfig');

  const fresh = await bob.get(`${roof}/new/main/lib?name=c.js`);
  t.match(fresh.body, /class="file-text tab-2"/);
  t.equal(field(fresh, 'path'), 'lib/c.js');
  const made = await bob.post(`${roof}/new/main/lib`, {
    path: 'lib/deep/ü.js',
    blob: '',
    text: 'x',
    target: 'branch',
    action: 'commit',
  });
  t.equal(made.headers.location, `${roof}/blob/main/lib/deep/%C3%BC.js?done=file-created`);
  for (const [path, why] of [
    ['lib/b.js', /lib\/b\.js already exists/],
    ['', /Give the file a name/],
    ['../x', /cannot be part of a path/],
    ['.GIT/hooks/x', /reserved for git/],
    ['a//b', /empty parts/],
    ['README.md/x', /cannot have the same name/],
  ] as const) {
    const refused = await bob.post(`${roof}/new/main`, {
      path,
      blob: '',
      text: 'kept <b>',
      target: 'branch',
      action: 'commit',
    });
    t.match([refused.status >= 400 && refused.status < 500, text(refused)], [true, why], path);
    t.match(refused.body, />\nkept &lt;b&gt;<\/textarea>/, 'what was typed stays');
  }

  const ask = await bob.get(`${roof}/delete/main/README.md`);
  const gone = await bob.post(`${roof}/delete/main/README.md`, { blob: field(ask, 'blob'), target: 'branch' });
  const [, deleted] = /\/commit\/([0-9a-f]{40})\?done=file-deleted$/.exec(gone.headers.location ?? '') ?? [];
  t.equal(deleted, git('rev-parse', 'main'));
  t.match((await bob.get(`${roof}/commit/${deleted}`)).body, new RegExp(`href="${roof}/commit/${deleted}/revert"`));
  t.equal((await bob.get(`${roof}/commit/${deleted}/revert`)).status, 200);
  const back = await bob.post(`${roof}/commit/${deleted}/revert`, { branch: 'main', new_branch: '' });
  t.match(back.headers.location, /\?done=commit-reverted$/);
  t.match(text(await bob.get(`${roof}/activity`)), /bob on the web/);
  t.equal(git('cat-file', '-p', 'main:README.md').includes('Slate'), true);
  t.match(
    text(await bob.post(`${roof}/commit/${deleted}/revert`, { branch: 'main', new_branch: '' })),
    /no changes from this commit/,
  );
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('the check of a workflow: in the form, and below the lines of the file', async (t) => {
  const { web, bob, fill, folder } = await openRoof(t);
  await fill({
    'README.md': 'x',
    '.hearth/workflows/on.yml': 'on: push\njobs:\n  a: {need: b, runs-on: x, steps: [{run: y}]}\n',
  });
  const form = {
    path: '.hearth/workflows/ci.yml',
    blob: '',
    message: '',
    description: '',
    target: 'branch',
    new_branch: '',
  };
  const sent = (text: string, action: string, path = form.path) =>
    bob.post(`${roof}/new/main/.hearth/workflows`, { ...form, path, text, action });
  const wrong = 'on: {push: {branch: [a]}}\njobs:\n  a: {runs-on: x, snapshot: y, steps: [{run: z}]}\n';
  for (const action of ['check', 'diff']) {
    const page = await sent(wrong, action);
    t.match(text(page), /Workflow check *Error in line 1, column 13: &quot;branch&quot; is not a key under/, action);
    t.match(text(page), /Warning in line 3, column 19: &quot;snapshot&quot; has no effect/, action);
    t.match(page.body, /value="check"/);
  }
  t.match(
    text(await sent(wrong.replace('branch', 'branches').replace('snapshot: y, ', ''), 'check')),
    /has no errors or warnings/,
  );
  t.notMatch((await sent(wrong, 'diff', 'notes.yml')).body, /check-title|value="check"/, 'another file');
  t.equal((await sent(wrong, 'commit')).status, 303, 'it is committed all the same');
  const page = await web.modules.repositories
    .find(viewerOf(bob.id, 'bob'), 'alice', 'roof')
    .then(() => bob.get(`${roof}/blob/main/.hearth/workflows/on.yml`));
  t.match(page.body, /<span class="line-note is-error">.*&quot;need&quot; is not a key under &quot;job&quot;/);
  t.ok(folder);
});

t.test('a file that changed meanwhile: both versions, and the text kept', async (t) => {
  const { bob, git, fill, commit } = await openRoof(t);
  await fill({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
  const blob = git('rev-parse', 'main:a.txt');
  const form = { path: 'a.txt', blob, text: 'mine\n', target: 'branch', action: 'commit' };
  await commit([['b.txt', 'two\n']]);
  await commit([['a.txt', 'theirs\n']]);
  const conflict = await bob.post(`${roof}/edit/main/a.txt`, form);
  t.equal(conflict.status, 409);
  t.match(text(conflict), /has changed since you opened it/);
  t.match(conflict.body, />\ntheirs\n<\/textarea>/);
  t.match(conflict.body, />\nmine\n<\/textarea>/);
  t.equal(field(conflict, 'blob'), git('rev-parse', 'main:a.txt'));
  const second = await bob.post(`${roof}/edit/main/a.txt`, { ...form, blob: field(conflict, 'blob') });
  t.equal(second.status, 303);
  t.equal(git('cat-file', '-p', 'main:a.txt'), 'mine');
  // Another file changed meanwhile: on top of it.
  const old = git('rev-parse', 'main:a.txt');
  await commit([['b.txt', 'three\n']]);
  t.equal((await bob.post(`${roof}/edit/main/a.txt`, { ...form, blob: old, text: 'x\n' })).status, 303);
  // The file is gone.
  const last = git('rev-parse', 'main:a.txt');
  await bob.post(`${roof}/delete/main/a.txt`, { blob: last, target: 'branch' });
  const gone = await bob.post(`${roof}/edit/main/a.txt`, { ...form, blob: last, text: 'still here\n' });
  t.match([gone.status, text(gone)], [409, /no longer on main/]);
  t.match(gone.body, />\nstill here\n<\/textarea>/);
  const revived = await bob.post(`${roof}/edit/main/a.txt`, { ...form, blob: '', text: 'still here\n' });
  t.equal(revived.status, 303);
  t.equal(git('cat-file', '-p', 'main:a.txt'), 'still here');
});

t.test('a rule leads to a new branch with a pull request, reading to a proposal', async (t) => {
  const { bob, carol, git, fill, rule, web, viewer } = await openRoof(t);
  await fill({ 'a.txt': 'one\n' });
  await rule();
  const page = await bob.get(`${roof}/edit/main/a.txt`);
  t.match(text(page), /A branch rule prevents you from pushing to main/);
  t.equal(field(page, 'new_branch'), 'bob-patch-1');
  const form = {
    path: 'a.txt',
    blob: field(page, 'blob'),
    text: 'two\n',
    message: 'Two',
    target: 'branch',
    new_branch: 'bob-patch-1',
  };
  const sent = await bob.post(`${roof}/edit/main/a.txt`, { ...form, opens_pull: 'yes', action: 'commit' });
  t.equal(sent.headers.location, `${roof}/pulls/1`);
  t.equal(git('cat-file', '-p', 'bob-patch-1:a.txt'), 'two');
  t.equal(git('cat-file', '-p', 'main:a.txt'), 'one');
  t.match(text(await bob.get(`${roof}/pulls/1`)), /bob wants to merge 1 commit into main from bob-patch-1/);
  const taken = await bob.post(`${roof}/edit/main/a.txt`, { ...form, action: 'commit' });
  t.match([taken.status, text(taken)], [422, /A branch named bob-patch-1 already exists/]);
  t.equal(field(await bob.get(`${roof}/edit/main/a.txt`), 'new_branch'), 'bob-patch-2');
  const alone = await bob.post(`${roof}/edit/main/a.txt`, { ...form, new_branch: 'alone', action: 'commit' });
  t.equal(alone.headers.location, `${roof}/blob/alone/a.txt?done=file-saved`);

  const propose = await carol.get(`${roof}/edit/main/a.txt`);
  t.match(text(propose), /You do not have write access to this repository/);
  t.match((await carol.get(`${roof}/blob/main/a.txt`)).body, /\/edit\/main\/a\.txt/);
  const proposed = await carol.post(`${roof}/edit/main/a.txt`, {
    ...form,
    target: 'branch',
    description: 'Please.',
    action: 'commit',
  });
  t.equal(proposed.headers.location, `${roof}/pulls/2`);
  t.equal(git('cat-file', '-p', 'refs/pull/2/head:a.txt'), 'two');
  t.match(text(await carol.get(`${roof}/pulls/2`)), /Two.*carol wants to merge 1 commit into main/);
  t.equal((await carol.get(`${roof}/pulls/2/changes`)).status, 200);
  t.equal((await carol.post(`${roof}/delete/main/a.txt`, { blob: form.blob })).headers.location, `${roof}/pulls/3`);
  const { pulls } = web.modules;
  await pulls.merge(viewer, { owner: 'alice', name: 'roof', number: 2 }, { style: 'merge', round: 1 });
  t.equal(git('cat-file', '-p', 'main:a.txt'), 'two');

  const anonymous = visitor(web);
  t.match((await anonymous.get(`${roof}/edit/main/a.txt`)).headers.location, /^\/login/);
  t.notMatch((await anonymous.get(`${roof}/blob/main/a.txt`)).body, /\/edit\/main/);
  t.equal((await carol.get(`${roof}/commit/${git('rev-parse', 'main')}/revert`)).status, 404);
  await web.modules.repositories.setArchived(viewer, 'alice', 'roof', true);
  t.equal((await bob.get(`${roof}/edit/main/a.txt`)).status, 403);
  t.equal((await bob.post(`${roof}/edit/main/a.txt`, { ...form, action: 'commit' })).status, 403);
});

t.test('files that are not text say why, and can be renamed', async (t) => {
  const { bob, fill, git, folder } = await openRoof(t);
  await fill({
    'data.bin': Buffer.from([1, 0, 2]),
    'latin.txt': Buffer.from('caf\xe9', 'latin1'),
    'huge.txt': 'x'.repeat(1024 * 1024 + 1),
    'lfs.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`,
  });
  for (const [name, why] of [
    ['data.bin', /Binary files can only be renamed/],
    ['latin.txt', /not UTF-8/],
    ['huge.txt', /larger than 1 MiB/],
    ['lfs.bin', /Git LFS/],
  ] as const) {
    const page = await bob.get(`${roof}/edit/main/${name}`);
    t.match([page.status, text(page)], [200, why], name);
    t.notMatch(page.body, /id="content"/);
    const blob = git('rev-parse', `main:${name}`);
    const moved = await bob.post(`${roof}/edit/main/${name}`, {
      path: `moved/${name}`,
      blob,
      text: 'nonsense',
      target: 'branch',
      action: 'commit',
    });
    t.equal(moved.status, 303, name);
    t.equal(git('rev-parse', `main:moved/${name}`), blob, 'the same bytes');
  }
  const link = execFileSync('git', [`--git-dir=${folder}`, 'hash-object', '-w', '--stdin'], { input: 'a' })
    .toString()
    .trim();
  const tree = execFileSync('git', [`--git-dir=${folder}`, 'mktree'], { input: `120000 blob ${link}\tlink\n` })
    .toString()
    .trim();
  const odd = git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit-tree', tree, '-m', 'odd');
  git('update-ref', 'refs/heads/odd', odd);
  t.match(text(await bob.get(`${roof}/edit/odd/link`)), /Symbolic links can only be changed with git/);
  t.match(
    (await bob.post(`${roof}/edit/odd/link`, { path: 'other', blob: link, target: 'branch', action: 'commit' })).status,
    422,
  );
  t.equal((await bob.get(`${roof}/delete/odd/link`)).status, 404);
  t.equal((await bob.get(`${roof}/edit/main/nowhere`)).status, 404);
  t.equal((await bob.get(`${roof}/edit/main/moved`)).status, 404, 'a folder');
  t.equal((await bob.get(`${roof}/edit/${odd}/link`)).status, 404, 'a commit is no branch');
});

t.test('uploads: several files, tricks in their names, limits', async (t) => {
  const { web, bob, carol, git, fill, folder } = await openRoof(t);
  await fill({ 'a.txt': 'one\n' });
  const plain = (name: string, value: string) => ({ name, bytes: value, fileName: null, type: null });
  const file = (fileName: string, bytes: Buffer | string) => ({
    name: 'files',
    bytes,
    fileName,
    type: 'application/octet-stream',
  });
  const fields = [plain('folder', 'in/side'), plain('target', 'branch'), plain('message', '')];
  t.equal((await bob.get(`${roof}/upload/main/in`)).status, 200);
  const bytes = randomBytes(200_000);
  const sent = await upload(web, bob, `${roof}/upload/main`, [...fields, file('x y.bin', bytes), file('ü.txt', 'ü')]);
  t.equal(sent.headers.location, `${roof}/tree/main/in/side?done=files-uploaded`);
  t.ok(execFileSync('git', [`--git-dir=${folder}`, 'cat-file', 'blob', 'main:in/side/x y.bin']).equals(bytes));
  t.equal(git('show', '-s', '--format=%s', 'main'), 'Upload 2 files');
  const replaced = await upload(web, bob, `${roof}/upload/main`, [
    plain('folder', ''),
    plain('target', 'branch'),
    file('a.txt', 'two\n'),
  ]);
  t.equal(replaced.status, 303);
  t.equal(git('cat-file', '-p', 'main:a.txt'), 'two');
  const tip = git('rev-parse', 'main');
  for (const [name, why] of [
    ['../x', /cannot be part of a path/],
    ['.git', /reserved for git/],
    ['GIT~1', /reserved for git/],
    ['in', /folder/],
  ] as const) {
    const refused = await upload(web, bob, `${roof}/upload/main`, [
      plain('folder', ''),
      plain('target', 'branch'),
      file(name, 'x'),
    ]);
    t.match([refused.status >= 400 && refused.status < 500, text(refused)], [true, why], name);
  }
  t.match(text(await upload(web, bob, `${roof}/upload/main`, fields)), /Choose the files/);
  const many = Array.from({ length: 101 }, (_, at) => file(`f${at}`, 'x'));
  t.match(text(await upload(web, bob, `${roof}/upload/main`, [...fields, ...many])), /at most 100 files/);
  t.equal(
    (await upload(web, bob, `${roof}/upload/main`, [...fields, file('big', Buffer.alloc(40 * 1024 * 1024))])).status,
    413,
  );
  t.equal(git('rev-parse', 'main'), tip, 'nothing of these');
  const proposed = await upload(web, carol, `${roof}/upload/main`, [
    plain('folder', ''),
    plain('message', 'Mine'),
    file('n.txt', 'n'),
  ]);
  t.equal(proposed.headers.location, `${roof}/pulls/1`);
  const cut = await sendRequest(web, `${roof}/upload/main`, {
    method: 'POST',
    body: Buffer.from('------x\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\nhalf'),
    headers: {
      'Content-Type': 'multipart/form-data; boundary=----x',
      Origin: web.origin,
      Cookie: [...bob.cookies].map((one) => one.join('=')).join('; '),
    },
  });
  t.equal(cut.status, 400, 'a form that was cut off');
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('the first file of an empty repository', async (t) => {
  const { bob, carol, git } = await openRoof(t);
  t.match((await bob.get(roof)).body, new RegExp(`href="${roof}/new"`));
  t.equal((await bob.get(`${roof}/new`)).status, 200);
  t.equal((await carol.get(`${roof}/new`)).status, 404);
  const made = await bob.post(`${roof}/new/main`, {
    path: 'README.md',
    blob: '',
    text: '# Roof\r\n',
    target: 'branch',
    action: 'commit',
  });
  t.equal(made.headers.location, `${roof}/blob/main/README.md?done=file-created`);
  t.equal(git('cat-file', '-p', 'main:README.md'), '# Roof');
});
