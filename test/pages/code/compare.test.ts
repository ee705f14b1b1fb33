import t from 'tap';
import { writeFileSync } from 'node:fs';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { startEdgeCaseWeb } from '../../fixtures/edge-case-web-fixture.ts';
import { runGit } from '../../fixtures/git-repositories.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const { web, path, get } = await startEdgeCaseWeb(t);

t.test('a comparison shows all that changed, in both looks', async (t) => {
  const unified = (await get(`/compare/v1.0..main`)).body;
  for (const sight of [
    /symbolic link → file/,
    /file → executable|executable/,
    /1111111111 → 2222222222/,
    /too many to show\.[^]*Load this file/,
    /class="badge bad">deleted/,
    /many\/part-0\/file-0\.c[^]*→[^]*many\/moved\/file-0\.c/,
    /No newline at the end/,
    /<figcaption>Before/,
  ]) {
    t.match(unified, sight);
  }
  const script = (await get('/commits/main')).body;
  t.match(script, /&lt;script&gt;alert\(1\)&lt;\/script&gt; &amp; &quot;quotes&quot; \ufffdevil/);
  t.notMatch(script, /<script>alert/);
  const split = (await get('/compare/v1.1-rc1..v1.1?view=split')).body;
  t.match(split, /<table class="diff split"[^>]*>[^]*<td class="removed">[^]*<td class="added">/);
  t.match(split, /<mark>/, 'words are marked');
  // On a busy machine the first view does not wait for the colours.
  let coloured = '';
  for (let view = 0; view < 50 && !/x-keyword/.test(coloured); view += 1)
    coloured = (await get('/compare/v1.0..v1.1')).body;
  t.match(coloured, /<tr class="added">(?:(?!<\/tr>).)*<span class="x-/, 'code is coloured');
  t.match((await get('/compare/main...main')).body, /same commit/);
  t.match((await get('/compare/main...unrelated')).body, /unrelated, so their files are compared/);
  const load = /href="([^"]*file=large\.txt[^"]*)"/.exec(unified)?.[1]?.replaceAll('&amp;', '&') ?? '';
  t.equal((await sendRequest(web, load)).status, 200);
  const spaces = (await runGit(['log', '-1', '--format=%H', 'main', '--', 'crlf.txt'], { cwd: path })).trim();
  t.match((await get(`/commit/${spaces}`)).body, /crlf\.txt[^]*<td class="number">1<\/td>[^]*two/);
  const [, crlf = ''] =
    /<details[^>]*id="file-1"[^]*?(<table[^]*?<\/table>)?<\/details>/.exec((await get(`/commit/${spaces}?w=1`)).body) ??
    [];
  t.equal(crlf, '', 'lines that differ in white space only are no lines then');
});

t.test('more lines around the changes of a file are shown, up to the whole file', async (t) => {
  const work = temporaryFolder(t);
  const lines = (middle: string) =>
    Array.from({ length: 400 }, (_, at) => (at === 200 ? middle : `line ${at}`)).join('\n');
  const commit = async (text: string) => {
    writeFileSync(`${work}/tall.txt`, `${text}\n`);
    await runGit(['add', '.'], { cwd: work });
    await runGit(['commit', '--quiet', '-m', 'tall'], { cwd: work });
  };
  await runGit(['init', '--quiet', '-b', 'tall'], { cwd: work });
  await commit(lines('before'));
  await commit(lines('after'));
  await runGit(['push', '--quiet', path, 'tall', 'tall~1:refs/heads/tall-before'], { cwd: work });
  const shown = (body: string): number => [...body.matchAll(/line \d+/g)].length;
  const next = (body: string): string | undefined =>
    /class="more-lines" href="([^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
  let { body } = await get('/compare/tall-before..tall?w=1');
  const counts = [shown(body)];
  for (let link = next(body); link !== undefined; link = next(body)) {
    t.match(link, /w=1&file=tall\.txt&context=\d+$/, 'what was chosen stays');
    ({ body } = await sendRequest(web, link));
    counts.push(shown(body));
  }
  // In front of the first two, git's heading of the hunk is a line, too.
  t.same(counts, [7, 51, 399, 399]);
  t.equal(shown((await get('/compare/tall-before..tall?context=999')).body), 7, 'other numbers are the first step');
});
