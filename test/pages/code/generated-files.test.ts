// Changes of generated files are folded, by attribute and by name; what is asked for by itself is open.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { issueWeb, roofUrl } from '../issues/issues-fixture.ts';

t.setTimeout(240_000);

t.test('generated files are folded on the page of a commit', async (t) => {
  const { anonymous, repositories, viewers } = await issueWeb(t, {
    files: {
      '.gitattributes': 'gen/** linguist-generated\n',
      'lib/.gitattributes': 'yarn.lock -linguist-generated\n',
      'gen/api.js': 'one\n',
      'lib/main.js': 'two\n',
      'lib/yarn.lock': 'three\n',
      'package-lock.json': '{}\n',
    },
  });
  const { path } = await repositories.find(viewers.alice, 'alice', 'roof');
  const oid = execFileSync('git', ['rev-parse', 'main'], { cwd: path }).toString().trim();
  const folded = async (query = ''): Promise<string[]> => {
    const { body } = await anonymous.get(`${roofUrl}/commit/${oid}${query}`);
    return [...body.matchAll(/<details class="changed-file"( open)? id="[^"]*">[^]*?<bdi>([^<]*)<\/bdi>/g)]
      .map(([, open, name]) => `${open === undefined ? 'folded' : 'open'} ${name}`)
      .sort();
  };
  t.same(await folded(), [
    'folded gen/api.js',
    'folded package-lock.json',
    'open .gitattributes',
    'open lib/.gitattributes',
    'open lib/main.js',
    'open lib/yarn.lock',
  ]);
  t.same(await folded('?file=package-lock.json'), ['open package-lock.json']);
});
