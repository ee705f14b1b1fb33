import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The part of @yao-pkg/pkg that puts one script and its assets into a copy of a given Node. */
interface PkgSea {
  default(
    script: string,
    options: {
      targets: { platform: string; arch: string; nodeRange: string; output: string }[];
      nodePath: string;
      useLocalNode: boolean;
      seaConfig: Record<string, unknown>;
    },
  ): Promise<void>;
}
const load = createRequire(import.meta.url);

/** The same as in bin/hearth. */
const nodeOptions = [
  '--max-old-space-size=512',
  '--disable-proto=delete',
  '--disable-warning=ExperimentalWarning',
  // A start makes more garbage than V8 expects. Up to 64 MiB, which V8 would use for what pages leave behind, they are
  // rendered no faster than with this: bench/RESULTS.md has the figures.
  '--min-semi-space-size=2',
  '--max-semi-space-size=4',
  '--v8-pool-size=2',
];

/**
 * Makes one executable with pkg, in its plain SEA mode: pkg's other mode has a virtual file system that costs start
 * time and that nothing here needs.
 * @param options.node the Node program that becomes the executable
 * @param options.arch its processor, `x64` or `arm64`
 * @param options.script the first script
 * @param options.assets key → bytes, readable through node:sea
 * @param options.output absolute path; replaced atomically, so that a running copy stays intact
 * @param options.workFolder an empty folder to work in
 */
export async function assembleExecutable(options: {
  node: string;
  arch: string;
  script: string;
  assets: Map<string, string | Uint8Array>;
  output: string;
  workFolder: string;
}): Promise<void> {
  const { node, arch, script, assets, output, workFolder } = options;
  const files: Record<string, string> = {};
  for (const [key, content] of assets) {
    files[key] = join(workFolder, 'assets', key);
    await mkdir(dirname(files[key]), { recursive: true });
    await writeFile(files[key], content);
  }
  const main = join(workFolder, 'loader.cjs');
  await writeFile(main, script);

  const pkg = load('@yao-pkg/pkg/lib-es5/sea') as PkgSea;
  const pkgOptions = load('@yao-pkg/pkg/lib-es5/options') as { default: { set(options: object): void } };
  const pkgLog = load('@yao-pkg/pkg/lib-es5/log') as { log: { info: () => void } };
  pkgOptions.default.set({});
  pkgLog.log.info = () => {};

  // pkg makes its working folder in here, which gives the script a relative name: otherwise stack traces would contain
  // the path of this machine.
  process.env['TMPDIR'] = workFolder;
  const unfinished = `${output}.unfinished-${process.pid}`;
  await rm(unfinished, { force: true });
  await mkdir(dirname(output), { recursive: true });
  await pkg.default(main, {
    targets: [{ platform: 'linux', arch, nodeRange: `node${process.versions.node}`, output: unfinished }],
    nodePath: node,
    // pkg would start a Node of another processor to ask for its version; it is the version of this one.
    useLocalNode: arch !== process.arch,
    seaConfig: {
      main: '../loader.cjs',
      assets: files,
      // The first script is short, and Node warns when such a cache was made with other flags.
      useCodeCache: false,
      execArgv: nodeOptions,
      // NODE_OPTIONS cannot add to these; the loader does.
      execArgvExtension: 'cli',
    },
  });
  await rename(unfinished, output);
}
