// What code of src may touch beyond its own module: programs, threads, other hosts, the process, the database.
import t from 'tap';
import ts from 'typescript';
import { parseSource, placeOf, readSources, valueImports, walk } from './source-files.ts';
import type { SourceFile } from './source-files.ts';

/** Finds violations in a file; each begins with its place. */
type Check = (source: SourceFile) => string[];

const sources = readSources('src');

/** Built-in modules that only these modules may import. */
const homes: Record<string, string[]> = {
  'node:child_process': ['git'],
  'node:worker_threads': ['embedded'],
  'node:sqlite': ['db'],
  'node:dns': ['outbound'],
  'node:dns/promises': ['outbound'],
  'node:dgram': ['outbound'],
  'node:cluster': [],
  'node:inspector': [],
  'node:repl': [],
  'node:vm': [],
};

const modulesAtHome: Check = (source) =>
  valueImports(source)
    .filter(({ module }) => homes[module]?.includes(source.moduleName) === false)
    .map(({ module, node }) => `${placeOf(source, node)} uses ${module}`);

/** What opens connections, by module. Servers only respond: `createServer`, `isIP` and types are allowed. */
const connecting: Record<string, string[]> = {
  'node:http': ['request', 'get', 'Agent', 'ClientRequest', 'globalAgent'],
  'node:https': ['request', 'get', 'Agent', 'globalAgent'],
  'node:http2': ['connect'],
  'node:net': ['connect', 'createConnection', 'Socket', 'Stream'],
  'node:tls': ['connect', 'TLSSocket'],
  ssh2: ['Client', 'HTTPAgent', 'HTTPSAgent'],
  '@grpc/grpc-js': ['Client', 'makeClientConstructor', 'makeGenericClientConstructor', 'loadPackageDefinition'],
};
/** `outbound` writes the header; others only read that of a request. */
const namesNoProgram: Check = (source) => {
  if (source.moduleName === 'outbound') return [];
  const found: string[] = [];
  const isHeader = (node: ts.Node): boolean => ts.isStringLiteral(node) && node.text.toLowerCase() === 'user-agent';
  walk(source.tree, (node) => {
    const isWritten =
      (ts.isPropertyAssignment(node) && isHeader(node.name)) ||
      (ts.isBinaryExpression(node) &&
        node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
        ts.isElementAccessExpression(node.left) &&
        isHeader(node.left.argumentExpression));
    if (isWritten) found.push(`${placeOf(source, node)} writes a User-Agent`);
  });
  return found;
};

/** `outbound` follows nothing: a caller that reads where an answer points to might send a secret there. */
const followsNoRedirects: Check = (source) => {
  const found: string[] = [];
  walk(source.tree, (node) => {
    if (ts.isPropertyAccessExpression(node) && node.name.text === 'location')
      found.push(`${placeOf(source, node)} reads where an answer points to`);
    if (ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression))
      if (node.argumentExpression.text.toLowerCase() === 'location')
        found.push(`${placeOf(source, node)} reads where an answer points to`);
  });
  return found;
};

const connectingPackages = ['undici', 'axios', 'got', 'node-fetch', 'ws', 'nodemailer', 'pg', 'socks'];
const connectingGlobals = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'];

const connectsNowhere: Check = (source) => {
  if (source.moduleName === 'outbound') return [];
  const found: string[] = [];
  const whole = new Map<string, string>();
  for (const { module, names, node } of valueImports(source)) {
    if (connectingPackages.some((name) => module === name || module.startsWith(`${name}/`)))
      found.push(`${placeOf(source, node)} imports ${module}`);
    const refused = connecting[module];
    if (refused === undefined) continue;
    for (const name of names)
      if (refused.includes(name)) found.push(`${placeOf(source, node)} imports ${name} of ${module}`);
    if (!names.includes('*')) continue;
    const clause = ts.isImportDeclaration(node) ? node.importClause : undefined;
    const bindings = clause?.namedBindings;
    if (clause?.name !== undefined) whole.set(clause.name.text, module);
    if (bindings !== undefined && ts.isNamespaceImport(bindings)) whole.set(bindings.name.text, module);
    if (clause === undefined) found.push(`${placeOf(source, node)} takes ${module} whole`);
  }
  walk(source.tree, (node) => {
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const module = whole.get(node.expression.text);
      const names = module === undefined ? [] : connecting[module]!;
      if (names.includes(node.name.text)) found.push(`${placeOf(source, node)} uses ${node.name.text} of ${module}`);
      if (node.expression.text === 'globalThis' && connectingGlobals.includes(node.name.text)) {
        found.push(`${placeOf(source, node)} uses ${node.name.text}`);
      }
    }
    const called = ts.isCallExpression(node) || ts.isNewExpression(node) ? node.expression : undefined;
    if (called !== undefined && ts.isIdentifier(called) && connectingGlobals.includes(called.text)) {
      found.push(`${placeOf(source, node)} calls ${called.text}`);
    }
  });
  return found;
};

/** git signals the programs that it started and passes PATH to them; the command line gets the process passed in. */
const processNames: Record<string, string[]> = { git: ['pid', 'kill', 'env'] };

const knowsNoProcess: Check = (source) => {
  if (source.moduleName === 'cli') return [];
  // nextTick only schedules a callback.
  const free = ['nextTick', ...(processNames[source.moduleName] ?? [])];
  const found = source.imports
    .filter(({ specifier }) => specifier === 'node:process' || specifier === 'process')
    .map(() => `${source.path}:1 imports node:process`);
  walk(source.tree, (node) => {
    if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return;
    if (node.expression.text !== 'process' || free.includes(node.name.text)) return;
    found.push(`${placeOf(source, node)} uses process.${node.name.text}`);
  });
  return found;
};

/** The parts of TypeORM that would bypass the read and the write connection. */
const typeormConnections = [
  'DataSource',
  'QueryRunner',
  'dataSource',
  'queryRunner',
  'createQueryRunner',
  'getRepository',
  'getTreeRepository',
  'transaction',
];

const usesTheTwoConnections: Check = (source) => {
  if (source.moduleName === 'db') return [];
  const found: string[] = [];
  const withTypeorm = source.imports.some(({ specifier }) => specifier === 'typeorm');
  walk(source.tree, (node) => {
    const isName = withTypeorm && ts.isImportSpecifier(node);
    if ((isName || ts.isPropertyAccessExpression(node)) && typeormConnections.includes(node.name.text)) {
      found.push(`${placeOf(source, node)} uses ${node.name.text}`);
    }
  });
  return found;
};

/** Files that a check would refuse, with the reason. An exception that is not needed any more fails, too. */
type Exceptions = Record<string, string>;

function holds(name: string, check: Check, exceptions: Exceptions = {}): void {
  t.test(name, async (t) => {
    t.strictSame(sources.filter(({ path }) => !Object.hasOwn(exceptions, path)).flatMap(check), []);
    for (const [path, reason] of Object.entries(exceptions)) {
      const source = sources.find((other) => other.path === path);
      t.ok(source !== undefined && check(source).length > 0, `still needed: ${path} (${reason})`);
    }
  });
}

holds('only git starts programs, only embedded starts threads, only db opens SQLite', modulesAtHome, {
  'src/db/writer-worker.ts': 'runs in the writing thread and answers through its port',
  'src/db/thread-worker.ts': 'runs in a side thread and answers through its port',
  'src/workers/worker-thread.ts': 'runs in its threads and answers through their ports',
  'src/cli/terminal/read-body.ts': 'starts the editor that the person at the terminal has named',
  'src/cli/serving/instance-lock.ts': 'the only file lock that Node offers is that of an SQLite file',
  'src/cli/completion/complete-names.ts': 'reads names at every press of Tab; the module db loads too slowly for that',
});

holds('only outbound opens connections', connectsNowhere, {
  'src/cli/demo/call-demo.ts': 'fills the server that its own process has just started',
  'src/cli/commands/health.ts': 'asks the server of its own data folder how it is',
  'src/control/control-client.ts': 'connects to the socket of the server in its own data folder',
  'src/doctor/checks/address.ts': 'calls this very server by the public address that its administrator has named',
  'src/mail/smtp-connections.ts': 'connects to the one mail server that the administrator has named, on any network',
  'src/db/postgres/pools.ts': 'connects to the one database server that the administrator has named',
  'src/db/postgres/postgres-database.ts': 'hands the client of the database to the mapper',
  'src/mail/compose.ts': 'only composes messages with the library; reading of files and URLs is off',
  'src/git/spawner/socket-pairs.ts': 'connects to a socket of its own, in a folder that only this user can open',
});

holds('only outbound names the program in a User-Agent', namesNoProgram);

holds('no answer of another host leads elsewhere', followsNoRedirects, {
  'src/image-proxy/fetch-image.ts': 'fetches images without any secret, each address checked as the first one',
  'src/imports/client/open-source-file.ts':
    'sends secrets to the origin of the API alone: test/imports/attached-files.test.ts',
  'src/imports/client/source-client.ts': 'stays at the origin: test/imports/gitea-import.test.ts',
  'src/mirrors/forge-client.ts': 'stays at the origin: test/mirrors/release-imports.test.ts',
  'src/mirrors/releases/release-client.ts':
    'sends secrets to the origins of the remote: test/mirrors/lfs-remote.test.ts',
  'src/updates/open-release.ts': 'sends no secret, and stays at the origin: test/updates/updates.test.ts',
});

holds('only the command line uses the process object', knowsNoProcess, {
  'src/embedded/from-disk.ts': 'says how a worker is started as a process: by the same Node',
  'src/embedded/from-executable.ts': 'says how a worker is started as a process: by the same executable',
  'src/git/spawner/spawner-process.ts': 'is a process of its own',
  'src/kernel/process-alive.ts': 'asks the system whether a process lives',
  'src/repository-store/folder-lock.ts': 'writes its id into a lock, and compares it with that of another one',
  'src/workers/worker-thread.ts': 'tells the processor time of its own thread',
});

holds('the database is used through db.read and db.write alone', usesTheTwoConnections);

t.test('the checks find violations', async (t) => {
  const cases: [Check, sees: string[], doesNotSee: string[]][] = [
    [
      modulesAtHome,
      [
        "import { spawn } from 'node:child_process';",
        "import { spawn } from 'child_process';",
        "import * as programs from 'node:child_process';",
        "export { spawn } from 'node:child_process';",
        "const { spawn } = await import('node:child_process');",
        "const { spawn } = require('child_process');",
        "const { spawn } = load('node:child_process');",
        "process.getBuiltinModule('node:child_process').spawn('x');",
        "import { Worker } from 'node:worker_threads';",
      ],
      ["import type { ChildProcess } from 'node:child_process';", "import { type Worker } from 'node:worker_threads';"],
    ],
    [
      connectsNowhere,
      [
        "await fetch('https://example.org');",
        "await globalThis.fetch('https://example.org');",
        "new WebSocket('wss://example.org');",
        "import { request } from 'node:https';",
        "import { request as ask } from 'node:http';",
        "import http from 'node:http'; http.get('http://example.org');",
        "import * as net from 'node:net'; net.connect(1);",
        "const net = await import('node:net');",
        "import { Client } from 'ssh2';",
        "import { request } from 'undici';",
        "import Connection from 'nodemailer/lib/smtp-connection';",
      ],
      [
        "import { createServer, type Server } from 'node:http';",
        "import http from 'node:http'; http.createServer();",
        "import { BlockList, isIP } from 'node:net'; import type { Socket } from 'node:net';",
        'await git.fetch(path);',
      ],
    ],
    [
      namesNoProgram,
      ["headers['User-Agent'] = 'x';", "const headers = { 'user-agent': name };"],
      ["ctx.get('User-Agent');", "request.headers['user-agent'];"],
    ],
    [
      followsNoRedirects,
      ['answer.headers.location;', "URL.parse(headers['Location'], url);"],
      ["const shape = { location: '' };", "ctx.set('Location', url);"],
    ],
    [
      knowsNoProcess,
      ['process.env.HOME;', 'process.exit(1);', "import process from 'node:process';"],
      ['process.nextTick(go);', 'this.process.stop();'],
    ],
    [
      usesTheTwoConnections,
      [
        'tx.manager.getRepository(schema);',
        'db.read.transaction(go);',
        'tx.manager.queryRunner;',
        "import { DataSource } from 'typeorm';",
      ],
      ["import { EntitySchema } from 'typeorm';", 'tx.manager.insert(schema, row);'],
    ],
  ];
  for (const [check, sees, doesNotSee] of cases) {
    for (const text of sees) t.not(check(parseSource('src/pages/page.ts', text)).length, 0, text);
    for (const text of doesNotSee) t.strictSame(check(parseSource('src/pages/page.ts', text)), [], text);
  }
});
