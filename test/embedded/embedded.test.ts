import t from 'tap';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResourceLimits } from 'node:worker_threads';
import { embedded, type WorkerName } from '../../src/embedded/index.ts';
import { compileWithCache } from '../../src/embedded/template-cache.ts';
import { heapLimits } from '../../src/embedded/thread-limits.ts';
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

t.test(
  'a worker thread has the heap limits that are listed, also where flags give the main thread others',
  async (t) => {
    const script = `void (async () => {
    const { embedded } = await import(${JSON.stringify(join(project, 'src/embedded/index.ts'))});
    const { heapLimits } = await import(${JSON.stringify(join(project, 'src/embedded/thread-limits.ts'))});
    const v8 = await import('node:v8');
    const own = v8.getHeapStatistics().heap_size_limit;
    const worker = embedded.startWorker('tasks');
    await new Promise((resolve) => worker.once('online', resolve));
    const stream = await worker.getHeapStatistics();
    const small = embedded.startWorker('tasks', { resourceLimits: { maxOldGenerationSizeMb: 40 } });
    await new Promise((resolve) => small.once('online', resolve));
    const other = await small.getHeapStatistics();
    console.log(JSON.stringify([own, stream.heap_size_limit, other.heap_size_limit, heapLimits.tasks].map((each) =>
      typeof each === 'number' ? each / 2 ** 20 : each)));
    process.exit(0);
  })()`;
    const flags = ['--max-old-space-size=700', '--min-semi-space-size=16', '--disable-warning=ExperimentalWarning'];
    const output = execFileSync(process.execPath, [...flags, '-e', script], {
      encoding: 'utf8',
    });
    const [own, tasks, small, limits] = JSON.parse(output) as [number, number, number, ResourceLimits];
    t.ok(own >= 700, `the main thread has its flag's: ${own} MiB`);
    const most = limits.maxOldGenerationSizeMb! + 3 * limits.maxYoungGenerationSizeMb!;
    t.ok(tasks >= limits.maxOldGenerationSizeMb! && tasks <= most, `${tasks} MiB`);
    t.ok(small >= 40 && small <= 40 + 3 * limits.maxYoungGenerationSizeMb!, `${small} MiB`);
    for (const [name, { maxOldGenerationSizeMb }] of Object.entries(heapLimits))
      if (name !== 'git-spawner') t.ok(maxOldGenerationSizeMb! > 0, `${name} has a limit`);
  },
);

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
