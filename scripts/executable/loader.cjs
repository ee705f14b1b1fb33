// The first script of the executable, and of each of its worker threads: it
// loads the chunks of the bundle out of the executable's image, each when it
// is first asked for. `hearthFirstChunk` names another first chunk than `main`
// in a worker; `RECORDING` is true only in the executable that the build makes
// to learn which functions a start compiles.
'use strict';
{
  if (typeof hearthFirstChunk === 'undefined' && !RECORDING && process.argv.includes('serve', 2)) beginAgain();

  /**
   * The server begins once more, in the same process, with what is read only when a program begins. For the C library:
   * its threads share two pools of memory, and what they free goes back to the system; a machine that sets the first
   * decides for itself. For V8: a heap of at most half of the machine's memory, or of its control group's; from 1 GiB
   * on that is more than the 512 MiB that are built in.
   */
  function beginAgain() {
    const { execArgv, execPath, argv, argv0, env, platform } = process;
    const hasBegunAgain = execArgv.filter((option) => option.startsWith('--max-old-space-size=')).length > 1;
    if (platform !== 'linux' || hasBegunAgain) return;
    const memory = Math.min(process.getBuiltinModule('node:os').totalmem(), process.constrainedMemory() || Infinity);
    const heap = Math.min(Math.max(Math.floor(memory / 2 ** 21), 128), 512);
    if (heap === 512 && env.MALLOC_ARENA_MAX !== undefined) return;
    const options = `--node-options=--max-old-space-size=${heap}`;
    const allocator = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' };
    process.execve(execPath, [argv0, options, ...argv.slice(2)], { ...allocator, ...env });
  }

  const { getAsset, getAssetKeys, getRawAsset } = process.getBuiltinModule('node:sea');
  const { Script } = process.getBuiltinModule('node:vm');
  const chunks = new Map();
  const packed = new Set(
    getAssetKeys().flatMap((key) => (key.startsWith('packed/') ? [key.slice('packed/'.length)] : [])),
  );

  const hearthChunks = {
    load(name) {
      let chunk = chunks.get(name);
      if (!chunk) {
        const script = compile(name);
        chunk = { exports: {}, script: RECORDING ? script : undefined };
        chunks.set(name, chunk);
        script.runInThisContext()(chunk.exports, load, chunk, hearthChunks, '/hearth/bundle.js', '/hearth');
      }
      return chunk.exports;
    },
    // One tick later, so that what was started before runs while the chunk is evaluated.
    import: (name) => new Promise(setImmediate).then(() => hearthChunks.load(name)),
    /** Something whose `it` is loaded when it is first asked for. */
    once: (load) => ({
      get it() {
        const it = load();
        Object.defineProperty(this, 'it', { value: it });
        return it;
      },
    }),
    startWorker(chunk, options) {
      const { Worker } = process.getBuiltinModule('node:worker_threads');
      const source = `const hearthFirstChunk = ${JSON.stringify(chunk)}\n${getAsset('loader', 'latin1')}`;
      return new Worker(source, { ...options, eval: true });
    },
  };

  /** Chunks that no start runs are stored compressed, with their compiled form. */
  function read(name, [plain, compressed]) {
    if (!packed.has(name)) return Buffer.from(getRawAsset(`${plain}/${name}`));
    return process.getBuiltinModule('node:zlib').brotliDecompressSync(getRawAsset(`${compressed}/${name}`));
  }

  function compile(name) {
    const source = read(name, ['chunks', 'packed']).latin1Slice();
    const cachedData = RECORDING ? undefined : read(name, ['code', 'packed-code']);
    return new Script(source, { filename: `hearth:${name}`, cachedData });
  }

  // Nothing is ever looked for on disk: what is no chunk is a part of Node.
  function load(id) {
    if (id.startsWith('./')) return hearthChunks.load(id.slice(2));
    const builtin = process.getBuiltinModule(id);
    if (builtin) return builtin;
    throw Object.assign(new Error(`Cannot find module '${id}'`), { code: 'MODULE_NOT_FOUND' });
  }

  // A process that the recorded one starts on a slow machine has no such folder, and records nothing. Threads record
  // nothing: whether they come to it before the process ends is chance.
  if (RECORDING && process.env.HEARTH_RECORD_FOLDER && typeof hearthFirstChunk === 'undefined') {
    const fs = process.getBuiltinModule('node:fs');
    const { mkdirSync, readdirSync, writeFileSync } = fs;
    new Script('()=>0;'.repeat(Number(process.env.HEARTH_RECORD_SHIFT)));
    // No timer of a tenth of a second or more fires: whether it does before the process ends is chance as well.
    for (const name of ['setTimeout', 'setInterval']) {
      const start = globalThis[name];
      globalThis[name] = (run, ms, ...values) => start(run, ms >= 100 ? 2 ** 31 - 1 : ms, ...values);
    }
    // Which processes the machine runs is chance, and V8 marks a `catch` that has caught: only the first one is found.
    fs.readdirSync = (path, ...options) => (path === '/proc' ? ['1'] : readdirSync(path, ...options));
    process.on('exit', () => {
      const keep = (kind, name, script) => {
        const folder = `${process.env.HEARTH_RECORD_FOLDER}/${kind}`;
        mkdirSync(folder, { recursive: true });
        writeFileSync(`${folder}/${name}`, script.createCachedData());
      };
      for (const [name, { script }] of chunks) keep('ran', name, script);
      for (const key of getAssetKeys()) {
        const [kind, name] = key.split('/');
        if (kind === 'chunks' && !chunks.has(name)) keep('idle', name, compile(name));
      }
    });
  }

  // Processes of our own that are not the command line (src/embedded/from-executable.ts).
  const [, part = 'main'] = /^--run-part=(worker-[a-z-]+)$/.exec(process.argv[2] ?? '') ?? [];
  hearthChunks.load(typeof hearthFirstChunk === 'undefined' ? part : hearthFirstChunk);
}
