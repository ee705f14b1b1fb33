import t from 'tap';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { parseSource, projectFolder, readSources, valueImports } from './source-files.ts';
import type { SourceFile } from './source-files.ts';

/** Modules in dependency order: each imports only modules of later lines. */
const arrows: string[][] = [
  ['cli'],
  ['app'],
  ['pages'],
  [
    'http-api',
    'http-git',
    'http-activitypub',
    'http-artifacts',
    'http-identity',
    'http-metrics',
    'http-oauth',
    'http-packages',
    'http-runner',
    'ssh',
    'scheduler',
  ],
  ['web'],
  ['doctor', 'imports', 'copies', 'updates'],
  ['webhooks'],
  ['gitea-shapes', 'notifications', 'notices', 'mirrors'],
  ['search', 'federation', 'ci', 'backup'],
  ['releases'],
  ['pulls'],
  ['issues', 'lfs', 'packages'],
  ['repositories', 'single-sign-on', 'oauth'],
  ['organisations', 'signing'],
  ['accounts'],
  ['owners'],
  ['audit'],
  ['mail'],
  ['announcements', 'outbox', 'image-proxy'],
  ['images', 'repository-store', 'http'],
  ['objects', 'nodes'],
  ['db', 'git', 'outbound', 'access', 'highlighting', 'control', 'sealing', 'openssh'],
  ['workers'],
  ['translation'],
  ['config', 'embedded', 'files'],
  ['kernel'],
];
const lineOf = (moduleName: string): number => arrows.findIndex((line) => line.includes(moduleName));

/** Modules that may import less than their position allows. */
const narrower: Record<string, string[]> = {
  // Pure, so that a test can state the whole policy as a table.
  access: ['kernel'],
  kernel: [],
};

/**
 * The schemas of `gitea-shapes` are a second entry, for the API alone: they load a library that a start does not need.
 */
const schemaEntry = 'src/gitea-shapes/schemas.ts';

/** Libraries of one transport or system interface, and the modules that may import them. */
const homes: Record<string, string[]> = {
  commander: ['cli'],
  pino: ['cli'],
  koa: ['pages', 'http'],
  '@koa/router': ['pages', 'http-api'],
  'koa-body': ['pages'],
  ssh2: ['ssh'],
  '@grpc/grpc-js': ['http-runner'],
  'node-cron': ['scheduler'],
  pug: ['embedded'],
  'intl-messageformat': ['translation'],
  'smol-toml': ['config'],
  nodemailer: ['mail'],
  '@simplewebauthn/server': ['accounts'],
  uqr: ['pages'],
  'openid-client': ['single-sign-on'],
  'oidc-provider': ['http-oauth'],
};

const sources = readSources('src');
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

t.test('every module has its place in the order', async (t) => {
  for (const moduleName of new Set(sources.map((source) => source.moduleName)))
    t.not(lineOf(moduleName), -1, moduleName);
});

t.test('a module imports only modules to its right, through their index.ts', async (t) => {
  const wrong: string[] = [];
  for (const { path: from, moduleName, imports } of sources) {
    for (const { file, specifier } of imports) {
      if (file === null || file === 'package.json') continue;
      if (file.startsWith('migrations/')) {
        if (moduleName !== 'app' && moduleName !== 'cli')
          wrong.push(`${from} imports ${specifier}: only app and cli know the migrations`);
        continue;
      }
      if (!file.startsWith('src/')) {
        wrong.push(`${from} imports ${specifier}, outside of src`);
        continue;
      }
      const target = file.split('/')[1]!.replace(/\.ts$/, '');
      if (target === moduleName) continue;
      if (lineOf(target) <= lineOf(moduleName))
        wrong.push(`${from} imports ${specifier}: ${target} is not to the right of ${moduleName}`);
      if (narrower[moduleName]?.includes(target) === false)
        wrong.push(`${from} imports ${specifier}: ${moduleName} may not see ${target}`);
      if (file === schemaEntry && moduleName === 'http-api') continue;
      if (file !== `src/${target}/index.ts`) wrong.push(`${from} imports ${specifier}, past its index.ts`);
    }
  }
  t.strictSame(wrong, []);
});

t.test('what makes the shapes takes only types of their schemas', async (t) => {
  const makers = readSources('src/gitea-shapes').filter(({ path }) => !/schemas?\.ts$/.test(path));
  t.ok(makers.length > 5, 'it sees them');
  const wrong = makers.flatMap((source) =>
    valueImports(source)
      .filter(({ module }) => module === 'zod' || /schemas?\.ts$/.test(module))
      .map(({ module }) => `${source.path} loads ${module}`),
  );
  t.strictSame(wrong, []);
});

t.test('only the command line starts the app, and bin only the command line', async (t) => {
  const importers = sources.filter(({ imports }) => imports.some(({ file }) => file === 'src/app/index.ts'));
  t.strictSame(
    importers.filter(({ moduleName }) => moduleName !== 'cli').map((source) => source.path),
    [],
  );
  for (const { path: from, imports } of readSources('bin')) {
    t.strictSame(
      imports.map(({ file }) => file),
      ['src/cli/index.ts'],
      from,
    );
  }
});

t.test('migrations are plain SQL: of src they import only types of db', async (t) => {
  for (const source of readSources('migrations')) {
    for (const { file, specifier } of source.imports) {
      t.ok(
        file?.startsWith('migrations/') === true || file === 'src/db/index.ts',
        `${source.path} imports ${specifier}`,
      );
    }
    for (const { module } of valueImports(source))
      t.match(module, /^\.\//, `${source.path} imports values of ${module}`);
  }
});

t.test('no cycle between files', async (t) => {
  const next = new Map(sources.map(({ path: from, imports }) => [from, imports.flatMap(({ file }) => file ?? [])]));
  t.strictSame(cyclesOf(next), []);
});

/** Folders of a module, and files directly in it, that reach each other: who reads one reads all. */
function circlesOf(files: readonly SourceFile[]): string[] {
  const placeOf = (file: string): string => (file.split('/').length > 3 ? path.posix.dirname(file) : file);
  const next = new Map<string, Set<string>>();
  for (const { path: from, moduleName, imports } of files) {
    const targets = next.get(placeOf(from)) ?? new Set();
    next.set(placeOf(from), targets);
    for (const { file } of imports) if (file?.split('/')[1] === moduleName) targets.add(placeOf(file));
  }
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set<string>();
    const open = [...(next.get(start) ?? [])];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (reached.has(place)) continue;
      reached.add(place);
      open.push(...(next.get(place) ?? []));
    }
    return reached;
  };
  const reaches = new Map([...next.keys()].map((place) => [place, reachedFrom(place)]));
  return [...reaches].flatMap(([place, reached]) =>
    [...reached].some((other) => other !== place && reaches.get(other)?.has(place) === true) ? place : [],
  );
}

// What `deps.ts` names stands below the folders that import it. Their number may only fall: who
// opens a circle writes the new one here.
t.test('no more places of modules than before are in circles through the files beside them', async (t) => {
  const made = (file: string, target: string) => parseSource(file, `import '${target}';`);
  t.strictSame(
    circlesOf([
      made('src/x/deps.ts', './a/b.ts'),
      made('src/x/a/b.ts', '../deps.ts'),
      made('src/x/c/d.ts', '../deps.ts'),
    ]),
    ['src/x/deps.ts', 'src/x/a'],
  );
  const found = circlesOf(sources);
  t.ok(found.length <= 11, `${found.length}: ${found.join(' ')}`);
  t.strictSame(
    found.filter((place) => place.startsWith('src/pages/')),
    [],
    'the subjects of pages stand above `app`, and `middleware-chain.ts` above them',
  );
});

/** The cycles of a graph, each as a closed path. */
function cyclesOf(next: ReadonlyMap<string, Iterable<string>>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (node: string, trail: string[]): void => {
    if (trail.includes(node)) return void cycles.push([...trail.slice(trail.indexOf(node)), node].join(' → '));
    if (done.has(node)) return;
    for (const target of next.get(node) ?? []) visit(target, [...trail, node]);
    done.add(node);
  };
  for (const node of next.keys()) visit(node, []);
  return cycles;
}

// Files directly in a module's folder are its public interface and what its folders share, so they count for neither.
t.test('no cycle between the folders of a module', async (t) => {
  const folderOf = (file: string): string | null => /^(src\/[^/]+\/.+)\/[^/]+$/.exec(file)?.[1] ?? null;
  const next = new Map<string, Set<string>>();
  for (const { path: from, imports } of sources) {
    const folder = folderOf(from);
    if (folder === null) continue;
    const targets = next.get(folder) ?? new Set();
    for (const { file } of imports) {
      const target = file === null ? null : folderOf(file);
      if (target !== null && target !== folder && target.split('/')[1] === folder.split('/')[1]) targets.add(target);
    }
    next.set(folder, targets);
  }
  t.ok(next.size > 60, 'it sees the folders');
  t.strictSame(cyclesOf(next), []);
});

t.test('every import resolves to a file, and every package is declared', async (t) => {
  const declared = JSON.parse(readFileSync(path.join(projectFolder, 'package.json'), 'utf8')) as {
    dependencies: object;
  };
  const known = new Set([...sources, ...readSources('migrations')].map((source) => source.path));
  const wrong: string[] = [];
  for (const { path: from, imports } of sources) {
    for (const { file, specifier } of imports) {
      if (file !== null) {
        if (!known.has(file)) wrong.push(`${from} imports ${specifier}, which is not there`);
      } else if (isBuiltin(specifier)) {
        if (!specifier.startsWith('node:')) wrong.push(`${from} imports ${specifier} without node:`);
      } else if (!Object.hasOwn(declared.dependencies, packageOf(specifier))) {
        wrong.push(`${from} imports ${specifier}, which is not among the dependencies`);
      }
    }
  }
  t.strictSame(wrong, []);
});

t.test('a transport library is imported by its own module only', async (t) => {
  const wrong = sources.flatMap(({ path: from, moduleName, imports }) =>
    imports
      .map(({ specifier }) => ({ specifier, allowed: homes[packageOf(specifier)] ?? [moduleName] }))
      .filter(({ allowed }) => !allowed.includes(moduleName))
      .map(({ specifier, allowed }) => `${from} imports ${specifier}, which belongs to ${allowed.join(' and ')}`),
  );
  t.strictSame(wrong, []);
});
