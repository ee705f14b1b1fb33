// What `.gitattributes` says of files in the names of linguist, by gitattributes(5), and names of generated files.
import t from 'tap';
import { isUsuallyGenerated, linguistAttributes } from '../../src/highlighting/index.ts';
import { sumLanguages } from '../../src/repositories/index.ts';

const root = (text: string) => [{ folder: '', text }];

t.test('patterns are those of gitattributes(5)', (t) => {
  for (const [pattern, fitting, others] of [
    ['*.gen.js', 'a.gen.js lib/deep/b.gen.js', 'gen.js a.gen.jsx a.gen.js/c.js'],
    ['gen.js', 'gen.js lib/gen.js', 'agen.js gen.js/x'],
    ['/gen.js', 'gen.js', 'lib/gen.js'],
    ['lib/gen.js', 'lib/gen.js', 'src/lib/gen.js'],
    ['lib/**', 'lib/a lib/b/c', 'lib libs/a src/lib/a'],
    ['lib/**/a.js', 'lib/a.js lib/x/a.js lib/x/y/a.js', 'a.js lib/ba.js'],
    ['**/lib/*.js', 'lib/a.js x/y/lib/a.js', 'lib/x/a.js'],
    ['lib/*', 'lib/a', 'lib/a/b'],
    ['a?c', 'abc x/axc', 'ac abbc'],
    ['[a-c]x[!0-9]', 'axy bx_', 'dxy ax1'],
    ['\\*.js', '*.js', 'a.js'],
    ['"with space.js"', 'with space.js', 'with'],
    ['lib/', '', 'lib lib/a'],
    ['!a.js', '', 'a.js !a.js'],
    ['*a*a*a*b', 'aaab xaxaxab', 'aaa'],
  ] as const) {
    const attributesOf = linguistAttributes(root(`${pattern} linguist-generated\n`));
    const names = (text: string): string[] => (text.includes('with space') ? [text] : text.split(' ').filter(Boolean));
    for (const path of names(fitting)) t.equal(attributesOf(path).isGenerated, true, `${pattern} ${path}`);
    for (const path of names(others)) t.equal(attributesOf(path).isGenerated, null, `${pattern} not ${path}`);
  }
  t.end();
});

t.test('values, order and folders', (t) => {
  for (const [text, isGenerated] of [
    ['a.js linguist-generated', true],
    ['a.js linguist-generated=true', true],
    ['a.js linguist-generated=false', false],
    ['a.js -linguist-generated', false],
    ['a.js linguist-generated\n*.js !linguist-generated', null],
    ['*.js linguist-generated\na.js -linguist-generated', false],
    ['a.js -linguist-generated\n*.js text linguist-generated eol=lf', true],
    ['# a.js linguist-generated', null],
    ['[attr]a.js linguist-generated', null],
    ['a.js text', null],
  ] as const)
    t.equal(linguistAttributes(root(text))('a.js').isGenerated, isGenerated, text);
  const attributesOf = linguistAttributes([
    { folder: 'lib/deep', text: '*.inc linguist-language=Ruby' },
    { folder: '', text: '*.inc linguist-language=PHP linguist-vendored' },
    { folder: 'lib', text: '/x.inc linguist-documentation' },
  ]);
  t.match(attributesOf('a.inc'), { language: 'PHP', isVendored: true, isDocumentation: null });
  t.match(attributesOf('lib/x.inc'), { language: 'PHP', isDocumentation: true });
  t.match(attributesOf('lib/deep/x.inc'), { language: 'Ruby', isVendored: true, isDocumentation: null });
  t.match(attributesOf('library/x.inc'), { language: 'PHP', isDocumentation: null });
  t.end();
});

t.test('hostile patterns and paths take no longer than the product of their lengths', (t) => {
  const text = Array.from({ length: 300 }, () => `${'*a'.repeat(90)}b linguist-generated`).join('\n');
  const attributesOf = linguistAttributes(root(text));
  const began = process.cpuUsage();
  for (const path of ['a'.repeat(900), 'a/'.repeat(450), 'x'.repeat(5_000)])
    t.equal(attributesOf(path).isGenerated, null);
  const { user } = process.cpuUsage(began);
  t.ok(user < 5_000_000, `${user} µs`);
  t.end();
});

t.test('the bar of languages goes by them', (t) => {
  const files = [
    ['src/main.ts', 100],
    ['gen.js', 9_000],
    ['view.inc', 50],
    ['vendor/own.go', 70],
    ['book/intro.py', 80],
    ['dist/app.min.js', 500],
    ['package-lock.json', 10_000],
  ].map(([path, size]) => ({ path: Buffer.from(path as string), oid: '', size: size as number }));
  const named = (attributes: string) =>
    sumLanguages(files, linguistAttributes(root(attributes))).map(({ name, bytes }) => `${name} ${bytes}`);
  t.same(named(''), ['JavaScript 9000', 'TypeScript 100', 'Python 80']);
  t.same(
    named(
      'gen.js linguist-generated\n*.inc linguist-language=PHP\nvendor/** -linguist-vendored\nbook/** linguist-documentation',
    ),
    ['TypeScript 100', 'Go 70', 'PHP 50'],
  );
  t.end();
});

t.test('names that programs write', (t) => {
  for (const path of [
    'package-lock.json',
    'web/yarn.lock',
    'go.sum',
    'a/b.min.js',
    'x.js.map',
    'api/v1.pb.go',
    'a_pb2.py',
    'm.g.dart',
    'node_modules/x/y.js',
  ])
    t.equal(isUsuallyGenerated(path), true, path);
  for (const path of [
    'package.json',
    'yarn.lock.md',
    'sum.go',
    'admin.js',
    'pb.go',
    'map.js',
    'locked.ts',
    'src/main.ts',
  ])
    t.equal(isUsuallyGenerated(path), false, path);
  t.end();
});
