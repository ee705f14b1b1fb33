// The language of a page costs no statement: it comes with the reader, from a header, or from the settings.
// runs alone: it counts the statements of its process.
import t from 'tap';
import { subscribe } from 'node:diagnostics_channel';
import { issueWeb, roofUrl } from '../pages/issues/issues-fixture.ts';

t.setTimeout(240_000);

let statements: string[] = [];
subscribe('hearth:db:statement', (message) => void statements.push((message as { sql: string }).sql));

t.test('home, tree and issue page take the same statements in each language, set or asked for', async (t) => {
  const { web, bob, anonymous, issues, viewers } = await issueWeb(t, { files: { 'src/main.c': 'int a;\n' } });
  const { accounts } = web.modules;
  await issues.open(viewers.bob, { owner: 'alice', name: 'roof' }, { title: 'Leak' });

  /** Statements of a view: the fewest of several, because tasks of the server write between them. */
  async function statementsOf(reader: typeof anonymous, page: string, accepted: string): Promise<string[]> {
    let fewest: string[] | null = null;
    for (let time = 0; time < 6; time += 1) {
      statements = [];
      const { status, body } = await reader.get(page, { 'Accept-Language': accepted });
      t.equal(status, 200, page);
      languages.add(/<html lang="([^"]*)"/.exec(body)![1]!);
      if (fewest === null || statements.length < fewest.length) fewest = statements.toSorted();
      most = Math.max(most, statements.length);
    }
    return fewest!;
  }

  let most = 0;
  const languages = new Set<string>();
  const pages = ['/', `${roofUrl}/tree/main/src`, `${roofUrl}/issues/1`];
  for (const page of pages) {
    const plain = await statementsOf(bob, page, 'en');
    t.strictSame(await statementsOf(bob, page, 'de'), plain, `${page}, asked for by the browser`);
    t.strictSame(await statementsOf(bob, page, 'x'.repeat(8_192)), plain, `${page}, by 8 KiB of nonsense`);
    await accounts.updateProfile(bob.id, { language: 'fr' });
    t.strictSame(await statementsOf(bob, page, 'de'), plain, `${page}, set in the account`);
    await accounts.updateProfile(bob.id, { language: '' });
    const kept = await statementsOf(anonymous, page, 'en');
    t.strictSame(await statementsOf(anonymous, page, 'fr'), kept, `${page}, of a visitor`);
  }
  t.strictSame([...languages].sort(), ['de', 'en', 'fr'], 'each language was shown');
  t.ok(most > 0, 'statements are counted');
});
