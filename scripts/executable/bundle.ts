import { build, transform, type Plugin } from 'esbuild';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { templateOptions, templatesFolder } from '../../src/embedded/template-options.ts';
import { libraries, tasks, workers } from '../../src/embedded/workers.ts';

const load = createRequire(import.meta.url);

/** Dependencies of databases and formats that Hearth does not use; requiring them at run time fails. */
const absent = [
  ...['@google-cloud/spanner', '@sap/hana-client', 'better-sqlite3', 'expo-sqlite', 'ioredis', 'mongodb', 'mssql'],
  ...[
    'mysql',
    'mysql2',
    'oracledb',
    'pg-cloudflare',
    'pg-native',
    'pg-query-stream',
    'react-native-sqlite-storage',
    'redis',
  ],
  ...['sql.js', 'sqlite3', 'typeorm-aurora-data-api-driver'],
  // The native parts of ssh2, which are optional.
  ...['cpu-features', '*.node'],
];

/** Replaces what a checkout reads from disk by what is compiled into the executable. */
const readFromExecutable: Plugin = {
  name: 'read-from-executable',
  setup(build) {
    build.onResolve({ filter: /\/from-disk\.ts$/ }, (found) => ({
      path: join(found.resolveDir, found.path.replace('from-disk', 'from-executable')),
    }));
  },
};

/** Library files that are loaded with the rest and unused: each would slow every start. */
const unused = [
  // TypeORM: drivers of other databases are a third of it.
  /\/typeorm\/driver\/(?!better-sqlite3\/|postgres\/|sqlite-abstract\/|types\/)[^/]+\/[^/]+\.js$/,
  /\/typeorm\/(entity-manager\/MongoEntityManager|repository\/MongoRepository|logger\/DebugLogger)\.js$/,
  // Our entities are schemas, listed one by one, and our logger shows no statements.
  /\/typeorm\/decorator\/.+\.js$/,
  /\/node_modules\/(@sqltools\/formatter|ansis|reflect-metadata|sql-highlight|tinyglobby)\/.+\.c?js$/,
  // WebAuthn: chains of certificates of attestations, which are not asked for; with one, a passkey is refused.
  /\/node_modules\/(@peculiar\/x509|tsyringe)\/.+\.c?js$/,
  // Stores of the rate limiter other than memory.
  /\/rate-limiter-flexible\/lib\/(RateLimiter(Cluster|Drizzle|Dynamo|Etcd|Memcache|Mongo|MySQL|Postgres|Prisma|Redis|SQLite|Valkey)\w*|Bursty\w+|RLWrapper\w+)\.js$/,
];

const leaveOutUnused: Plugin = {
  name: 'leave-out-unused',
  setup(build) {
    const contents = `
      class LeftOut { constructor() { throw new Error('This part of a library is not in the executable') } }
      module.exports = new Proxy({}, { get: () => LeftOut })`;
    build.onLoad({ filter: /\/node_modules\/.+\.c?js$/ }, ({ path }) =>
      unused.some((files) => files.test(path)) ? { contents } : undefined,
    );
  },
};

/** The driver of PostgreSQL is in the part that uses it, which registers it: `src/db/postgres/driver.ts`. */
const postgresWhenUsed: Plugin = {
  name: 'postgres-when-used',
  setup(build) {
    build.onLoad({ filter: /\/typeorm\/driver\/DriverFactory\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source
        .replace('require("./postgres/PostgresDriver")', '{}')
        .replace(
          'new PostgresDriver_1.PostgresDriver(',
          "new (globalThis[Symbol.for('hearth.postgres')].PostgresDriver)(",
        );
      if (!contents.includes('hearth.postgres')) throw new Error('TypeORM makes its drivers in another way now');
      return { contents };
    });
  },
};

/**
 * The provider of OAuth 2.0 tells its records and their lifetimes apart by the names of its classes. They are class
 * expressions, whose names esbuild leaves out where nothing in them uses it.
 */
const namedModels: Plugin = {
  name: 'named-models',
  setup(build) {
    build.onLoad({ filter: /\/oidc-provider\/lib\/models\/\w+\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/(=> class (\w+) extends [^{]+\{)/, "$1 static name = '$2';"),
    }));
  },
};

/** Koa's libraries warn about deprecated calls, and inspect the stack for that at each start. */
const noDeprecations: Plugin = {
  name: 'no-deprecations',
  setup(build) {
    const contents = `
      module.exports = () => Object.assign(() => {}, { function: (called) => called, property: () => {} })`;
    build.onLoad({ filter: /\/node_modules\/depd\/index\.js$/ }, () => ({ contents }));
  },
};

/** Media types that Hearth sends, and that its routes compare. */
const mediaTypes = [
  ...['text/html', 'text/plain', 'text/css', 'text/javascript', 'text/markdown', 'text/xml', 'multipart/form-data'],
  ...['json', 'javascript', 'xml', 'atom+xml', 'octet-stream', 'zip', 'gzip', 'pdf', 'x-www-form-urlencoded'].map(
    (name) => `application/${name}`,
  ),
  ...['activity+json', 'ld+json', 'jrd+json', 'manifest+json', 'proto', 'grpc'].map((name) => `application/${name}`),
  ...['png', 'jpeg', 'gif', 'webp', 'svg+xml', 'x-icon', 'vnd.microsoft.icon', 'avif'].map((name) => `image/${name}`),
  ...['font/woff', 'font/woff2', 'audio/mpeg', 'audio/ogg', 'video/mp4', 'video/webm'],
];

/** Koa includes the registry of all media types, twice, and builds maps of it at each start. */
const fewMediaTypes: Plugin = {
  name: 'few-media-types',
  setup(build) {
    build.onLoad({ filter: /\/mime-db\/db\.json$/ }, async ({ path }) => {
      const all = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
      return {
        loader: 'json',
        contents: JSON.stringify(
          Object.fromEntries(mediaTypes.flatMap((type) => (type in all ? [[type, all[type]]] : []))),
        ),
      };
    });
  },
};

/**
 * Bundles the program into chunks: one for each part that is loaded on its
 * own, in CommonJS form, wrapped for loader.cjs.
 * @param options.main the program's first file
 * @returns chunk name → source, ASCII only
 */
export async function bundle(options: {
  project: string;
  main: string;
  version: string;
}): Promise<Map<string, string>> {
  const { project, main, version } = options;
  const partsOf = (kind: string, files: Readonly<Record<string, string>>) =>
    Object.entries(files).map(([name, file]): [string, string] => [`${kind}-${name}`, join(project, file)]);
  const parts = Object.fromEntries([
    ...partsOf('worker', workers),
    ...partsOf('task', tasks),
    ...partsOf('library', libraries),
  ]);
  const bundled = await build({
    absWorkingDir: project,
    entryPoints: { main, ...parts },
    bundle: true,
    write: false,
    outdir: 'dist',
    chunkNames: 'part-[hash]',
    format: 'esm',
    splitting: true,
    platform: 'node',
    target: 'node24',
    external: absent,
    // Libraries that ask for their path get one that does not exist.
    define: { HEARTH_VERSION: JSON.stringify(version), 'import.meta.url': '"file:///hearth/bundle.js"' },
    // Names of declarations are kept: TypeORM, the log and stack traces use them.
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'error',
    plugins: [readFromExecutable, postgresWhenUsed, namedModels, leaveOutUnused, noDeprecations, fewMediaTypes],
  });
  const chunks = new Map<string, string>();
  for (const file of bundled.outputFiles) {
    chunks.set(basename(file.path), await wrap(file.text));
  }
  const name = (path: string): string => path.replace(/\.js$/, '');
  return new Map([...chunks].map(([path, source]) => [name(path), source]));
}

/** One ES module chunk as the function expression that loader.cjs calls. */
async function wrap(source: string): Promise<string> {
  const { code } = await transform(source, {
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    supported: { 'dynamic-import': false },
    // A third of the text is white space; names in stack traces are kept.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
  });
  const imports = /Promise\.resolve\(\)\.then\(\(\)=>__toESM\(require\("\.\/([^"]+)\.js"\)\)\)/g;
  return asFunction(
    loadedAtFirstUse(code)
      .replace(imports, 'hearthChunks.import("$1")')
      .replace(/require\("\.\/([^"]+)\.js"\)/g, 'require("./$1")'),
  );
}

/**
 * Makes a chunk load its libraries and parts of Node on first use instead of at once: a start uses half of them.
 * esbuild keeps each import in a variable `import_…` and reads only members of it; other chunks are unchanged.
 */
function loadedAtFirstUse(code: string): string {
  const toEsm = String.raw`(?:__toESM\d*|\(0,import_part_\w+\.__toESM\))`;
  const ofNode = String.raw`require\("(?!\./)[^"]+"\)`;
  const ofLibrary = String.raw`(?:require_\w+|\(0,import_part_\w+\.require_\w+\))\(\)`;
  const declaration = new RegExp(
    String.raw`\b(import_\w+)=(${ofNode}|${toEsm}\((?:${ofNode}|${ofLibrary})(?:,1)?\))`,
    'g',
  );
  const names = new Set(Array.from(code.matchAll(declaration), ([, name]) => name));
  return code
    .replace(/\bimport_\w+\b(?!=)/g, (name) => (names.has(name) ? `${name}.it` : name))
    .replace(declaration, '$1=hearthChunks.once(()=>$2)');
}

/** The form that loader.cjs calls; the outer parentheses make V8 compile it eagerly. */
function asFunction(source: string): string {
  return `(function (exports, require, module, hearthChunks, __filename, __dirname) {${source}\n})`;
}

/**
 * Compiles every page template to a function, as one chunk that exports them by name. Their shared code (escaping,
 * attributes) is in it once.
 */
export async function bundleTemplates(project: string): Promise<string> {
  const pug = load('pug') as typeof import('pug');
  const folder = join(project, templatesFolder);
  const names = globSync('**/*.pug', { cwd: folder }).map((file) => file.replaceAll('\\', '/').replace(/\.pug$/, ''));
  const entries = await Promise.all(
    names.sort().map(async (name) => {
      const file = join(folder, `${name}.pug`);
      const source = pug.compileClient(await readFile(file, 'utf8'), {
        ...templateOptions(folder),
        filename: file,
        name: 'render',
        compileDebug: false,
        inlineRuntimeFunctions: false,
      });
      return `${JSON.stringify(name)}: (() => {${source}; return render})()`;
    }),
  );
  const bundled = await build({
    // Otherwise the folder in which the build was started is in the names of modules.
    absWorkingDir: project,
    stdin: {
      contents: `const pug = require('pug-runtime')\nmodule.exports = {${entries.join(',\n')}}`,
      resolveDir: join(project, 'node_modules/pug'),
    },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  return asFunction(bundled.outputFiles[0]?.text ?? '');
}
