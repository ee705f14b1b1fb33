// Titles with code, as lists and pages show them.
import t from 'tap';
import { issueWeb, roofUrl } from './issues-fixture.ts';

t.setTimeout(240_000);

t.test('text between backticks is code in titles; the rest is text', async (t) => {
  const { anonymous, issues, viewers } = await issueWeb(t);
  const cases = [
    ['Run `make all` twice', 'Run <code>make all</code> twice'],
    ['`a` and `<b>`', '<code>a</code> and <code>&lt;b&gt;</code>'],
    ['one ` alone', 'one ` alone'],
    ['<b>no</b>', '&lt;b&gt;no&lt;/b&gt;'],
  ] as const;
  for (const [title] of cases) await issues.open(viewers.alice, { owner: 'alice', name: 'roof' }, { title });
  const list = (await anonymous.get(`${roofUrl}/issues`)).body;
  for (const [at, [title, html]] of cases.entries()) {
    t.ok(list.includes(`<bdi>${html}</bdi>`), `${title} in the list`);
    const page = (await anonymous.get(`${roofUrl}/issues/${at + 1}`)).body;
    t.ok(page.includes(`<h2 class="issue-title"><bdi>${html}</bdi>`), title);
  }
});
