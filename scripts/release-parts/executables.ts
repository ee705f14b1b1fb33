import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DebianPackage } from './provenance.ts';
import { announce, architectures, Refusal, run } from './release-in-progress.ts';
import type { Release } from './release-in-progress.ts';

type Executables = Record<'x64' | 'arm64', string>;

/** @param folder has `hearth-x64` and `hearth-arm64` that were built before; undefined builds them */
export async function makeExecutables(release: Release, folder: string | undefined): Promise<Executables> {
  const made = join(release.workFolder, 'executables');
  await mkdir(made);
  const executables: Executables = { x64: join(made, 'hearth-x64'), arm64: join(made, 'hearth-arm64') };
  for (const { node } of architectures) {
    if (folder === undefined) await build(release, node, executables[node]);
    else if (await isThere(join(resolve(folder), `hearth-${node}`)))
      await copyFile(join(resolve(folder), `hearth-${node}`), executables[node]);
    else throw new Refusal(`${folder} has no hearth-${node}.`);
  }
  return executables;
}

/** Builds in the clone, with the Node of the lock file for that processor. */
async function build(release: Release, arch: 'x64' | 'arm64', output: string): Promise<void> {
  announce(`the executable for ${arch}`);
  const { source } = release;
  const installed = (name: string) => join(source, `node_modules/node-linux-${name}/bin/node`);
  const runtime = (await isThere(installed(arch))) ? installed(arch) : await fetchRuntime(release, arch);
  const script = [join(source, 'scripts/build-executable.ts'), '--reproducible'];
  const words = ['--disable-warning=ExperimentalWarning', ...script, '--runtime', runtime];
  await run(installed(process.arch), [...words, '--arch', arch, '--output', output]);
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** npm installs only the Node of its own processor: the other one is fetched, and compared with the lock file. */
async function fetchRuntime({ source, workFolder }: Release, arch: 'x64' | 'arm64'): Promise<string> {
  const name = `node-linux-${arch}`;
  const { packages } = JSON.parse(await readFile(join(source, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const { version, integrity } = packages[`node_modules/${name}`]!;
  const folder = join(workFolder, name);
  await mkdir(folder);
  await run('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`]);
  const archive = join(folder, `${name}-${version}.tgz`);
  const sum = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64');
  if (`sha512-${sum}` !== integrity) throw new Refusal(`${name} ${version} is not the one of the lock file.`);
  await run('tar', ['-xzf', archive, '-C', folder, 'package/bin/node']);
  return join(folder, 'package/bin/node');
}

export interface BaseSystems {
  /** Archives of the root file systems. */
  files: Record<'amd64' | 'arm64', string>;
  packages: DebianPackage[];
}

/** Debian 12 as far as the image needs it: git runs ssh and false through a shell. */
const suite = 'bookworm';
const included = 'git,dash,coreutils,openssh-client,ca-certificates,tini,libstdc++6,libatomic1';
/** What the server and git start. */
const started = ['git', 'sh', 'false', 'ssh', 'ssh-keygen', 'tini'];
const leftOut = ['doc', 'man', 'info', 'locale', 'lintian', 'bug', 'bash-completion', 'zsh'];

/**
 * The system below the image, from Debian's packages of the mirror that apt knows here. Nothing of it is started, so
 * that it is the same for each processor.
 * @param folder has `base-amd64.tar`, `base-arm64.tar` and `packages.txt` that were made before
 */
export async function makeBaseSystems(release: Release, folder: string | undefined): Promise<BaseSystems> {
  const made = folder === undefined ? join(release.workFolder, 'base-system') : resolve(folder);
  const files = { amd64: join(made, 'base-amd64.tar'), arm64: join(made, 'base-arm64.tar') };
  if (folder === undefined) {
    await mkdir(made);
    for (const { debian } of architectures) await makeBaseSystem(release, debian, files[debian], made);
  }
  const lines = (await readFile(join(made, 'packages.txt'), 'utf8')).trim().split('\n');
  const packages = lines.map((line) => {
    const [sha256 = '', file = ''] = line.split(/\s+/);
    return { file, sha256 };
  });
  return { files, packages };
}

async function makeBaseSystem({ seconds }: Release, architecture: string, output: string, made: string): Promise<void> {
  announce(`the base system for ${architecture}`);
  const list = `cd "$1/var/cache/apt/archives" && sha256sum *.deb >>${made}/packages.txt`;
  const remove = `rm -rf ${['etc/apt', 'var/cache', 'var/lib/apt', 'var/lib/dpkg', 'var/log'].map((each) => `"$1/${each}"`).join(' ')}`;
  const words = [
    ...['--variant=extract', '--quiet', `--architectures=${architecture}`, `--include=${included}`],
    ...['--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr', '--skip=output/dev'],
    ...leftOut.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    ...['--dpkgopt=path-include=/usr/share/doc/*/copyright'],
    ...[`--extract-hook=${list}`, `--customize-hook=${remove}`],
  ];
  await run('mmdebstrap', [...words, suite, output], { SOURCE_DATE_EPOCH: String(seconds) });
  const there = new Set((await run('tar', ['-tf', output])).split('\n'));
  const missing = started.find((name) => !there.has(`./usr/bin/${name}`));
  if (missing !== undefined) throw new Refusal(`The base system for ${architecture} has no ${missing}.`);
}
