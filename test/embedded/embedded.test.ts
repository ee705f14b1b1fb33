import t from 'tap';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embedded, type WorkerName } from '../../src/embedded/index.ts';
import { compileWithCache } from '../../src/embedded/template-cache.ts';
import { workers } from '../../src/embedded/workers.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const project = join(import.meta.dirname, '../..');

t.test('the version is the one in package.json', async (t) => {
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
  t.equal(embedded.version, version);
  t.equal(embedded.isExecutable, false);
});

t.test('every listed asset can be read, and nothing else', async (t) => {
  for (const path of embedded.assetPaths()) t.ok(embedded.asset(path).length > 0, path);
  for (const path of ['', '..', '../layout.pug', '/etc/passwd', 'site.css\0', './', 'no-such-file.css']) {
    t.throws(() => embedded.asset(path), { message: /^There is no asset named / }, JSON.stringify(path));
  }
});

t.test('a template name that is not below templates/ is refused', async (t) => {
  for (const name of ['', 'no-such-page', '../README', '/etc/passwd', 'assets/site.css', 'pages/../layout']) {
    t.throws(() => embedded.renderTemplate(name), { message: /^There is no template named / }, JSON.stringify(name));
  }
});

t.test('every worker has its source file, and an unknown worker is refused', async (t) => {
  for (const file of Object.values(workers)) t.ok(existsSync(join(project, file)), file);
  for (const name of ['nobody', 'toString', '../cli/index']) {
    t.throws(() => embedded.startWorker(name as WorkerName), { message: /^There is no worker named / }, name);
  }
});

t.test('the function of a template is kept in a file, as long as none of its files changes', async (t) => {
  const templates = temporaryFolder(t);
  const cache = join(temporaryFolder(t), 'not/there');
  mkdirSync(join(templates, 'pages'));
  const write = (name: string, text: string) => writeFileSync(join(templates, name), text);
  const render = (locals = {}) => compileWithCache(templates, 'pages/one', cache).render(locals);
  write('frame.pug', 'p: block content');
  write('part.pug', 'b part');
  write('pages/one.pug', 'extends /frame\nblock content\n  include ../part\n  i(title=title)= title');
  t.equal(render({ title: '<a>' }), '<p><b>part</b><i title="&lt;a&gt;">&lt;a&gt;</i></p>');

  const [name = '', ...others] = readdirSync(cache);
  t.strictSame([name, others], ['pages+one.json', []], 'one file, and none left over');
  const file = join(cache, name);
  const kept = readFileSync(file, 'utf8');
  writeFileSync(file, kept.replaceAll('part', 'kept'));
  t.match(render(), /part/, 'a list of other files is not believed');
  t.equal(readFileSync(file, 'utf8'), kept);
  writeFileSync(file, kept.replace(String.raw`part\\u003C`, String.raw`kept\\u003C`));
  t.match(render(), /<b>kept/, 'the file is used');

  write('part.pug', 'b other');
  t.match(render(), /<b>other/, 'an included file has changed');
  write('frame.pug', 'div: block content');
  t.match(render(), /^<div>/, 'an extended file has changed');
  for (const broken of ['', '{}', 'null', '{"pug":"0.0.1","files":[],"body":"return () => 0"}']) {
    writeFileSync(file, broken);
    t.match(render(), /^<div><b>other/, `a file of the cache with ${JSON.stringify(broken)}`);
  }

  write('pages/one.pug', 'p(');
  t.throws(() => render(), { code: /^PUG:/ }, 'an error names the line');
  write('pages/one.pug', 'p= nothing.at.all');
  t.throws(() => render(), { message: /one\.pug:1/ });
  write('cache', 'a file');
  write('pages/one.pug', 'p');
  t.equal(
    compileWithCache(templates, 'pages/one', join(templates, 'cache')).render(),
    '<p></p>',
    'no folder to write to',
  );
});
