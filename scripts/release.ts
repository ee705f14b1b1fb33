/**
 * Makes a release: scripts/release has the usage.
 *
 * Everything is made in a folder beside the output, from a clone of the commit: changelog, version, commit, tag, then
 * the files, their sums and the signature. At the end one rename makes the output, and the commit and the tag move into
 * the checkout. Until then nothing of the checkout changes; whatever fails removes the folder.
 *
 * All dates are that of the commit, so that two releases of one commit have the same bytes.
 */
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cutChangelog } from './release-parts/changelog.ts';
import { checkBefore } from './release-parts/check-before.ts';
import { makeDebianPackage } from './release-parts/debian-package.ts';
import { makeBaseSystems, makeExecutables } from './release-parts/executables.ts';
import { makeImage } from './release-parts/image.ts';
import { billOfMaterials, readLockFile } from './release-parts/bill-of-materials.ts';
import { licenceTexts } from './release-parts/licences.ts';
import { provenance } from './release-parts/provenance.ts';
import { announce, architectures, Refusal, run } from './release-parts/release-in-progress.ts';
import type { Release } from './release-parts/release-in-progress.ts';
import { signSums, sumsOf } from './release-parts/signature.ts';

const project = join(import.meta.dirname, '..');
/** Whatever fails after it fails because its files are removed. */
let isInterrupted = false;

async function main(words: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      key: { type: 'string' },
      output: { type: 'string' },
      executables: { type: 'string' },
      'base-system': { type: 'string' },
      'without-image': { type: 'boolean' },
      'packages-of-checkout': { type: 'boolean' },
    },
  });
  const version = positionals.length === 1 ? positionals[0]! : '';
  const output = resolve(values.output ?? join(project, 'dist/release', version));
  const before = await checkBefore({ project, version, key: values.key, output });
  await mkdir(dirname(output), { recursive: true });
  const workFolder = await mkdtemp(join(dirname(output), `.${basename(output)}-unfinished-`));
  const removeWork = () => rm(workFolder, { recursive: true, force: true, maxRetries: 5 });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      isInterrupted = true;
      console.error('scripts/release: Interrupted. Nothing was released.');
      void removeWork().finally(() => process.exit(1));
    });
  try {
    const release = await cut(version, before.commit, workFolder);
    const files = join(workFolder, 'files');
    await mkdir(files);
    announce('the packages of npm');
    await install(release, values['packages-of-checkout'] ?? false);
    await makeFiles(release, files, {
      executables: values.executables,
      baseSystem: values['base-system'],
      withImage: !values['without-image'],
      signers: before.signers,
    });
    announce('the signature');
    await signSums(files, { key: values.key!, signers: before.signers });
    await publish(release, files, output);
  } finally {
    await removeWork();
  }
  console.log(`${output}\ncommit and tag v${version} are in this checkout; nothing is published. Verify with:`);
  console.log(`  cd ${output} && ssh-keygen -Y verify -f allowed_signers -I hearth-release -n hearth-release \\`);
  console.log('    -s SHA256SUMS.sig <SHA256SUMS && sha256sum --check SHA256SUMS');
}

/** Clones the commit and makes the release's commit and tag in the clone. */
async function cut(version: string, commit: string, workFolder: string): Promise<Release> {
  const source = join(workFolder, 'source');
  await run('git', ['clone', '--quiet', '--no-checkout', '--no-tags', project, source]);
  await run('git', ['-C', source, 'checkout', '--quiet', '--detach', commit]);
  const seconds = Number(await run('git', ['-C', source, 'show', '-s', '--format=%ct', commit]));
  const date = new Date(seconds * 1000).toISOString().slice(0, 10);
  const changelog = join(source, 'CHANGELOG.md');
  const { text, notes } = cutChangelog(await readFile(changelog, 'utf8'), version, date);
  await writeFile(changelog, text);
  for (const name of ['package.json', 'package-lock.json']) await setVersion(join(source, name), version);

  const author = await run('git', ['-C', project, 'config', 'user.name']);
  const email = await run('git', ['-C', project, 'config', 'user.email']);
  const dates = { GIT_AUTHOR_DATE: `@${seconds} +0000`, GIT_COMMITTER_DATE: `@${seconds} +0000` };
  const as = ['-C', source, '-c', `user.name=${author}`, '-c', `user.email=${email}`, '-c', 'commit.gpgSign=false'];
  await run('git', [...as, 'commit', '--quiet', '--no-verify', '-am', `release: cut ${version}`], dates);
  await run('git', [...as, '-c', 'tag.gpgSign=false', 'tag', '-a', '-m', `Hearth ${version}`, `v${version}`], dates);
  const released = await run('git', ['-C', source, 'rev-parse', 'HEAD']);
  return {
    version,
    seconds,
    source,
    workFolder,
    notes,
    base: commit,
    commit: released,
    maintainer: `${author} <${email}>`,
  };
}

/** The version of the project in package.json or the lock file: the other lines stay. */
async function setVersion(file: string, version: string): Promise<void> {
  const manifest = JSON.parse(await readFile(file, 'utf8')) as {
    version: string;
    packages?: Record<string, { version: string }>;
  };
  manifest.version = version;
  if (manifest.packages) manifest.packages['']!.version = version;
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

async function install({ source }: Release, fromCheckout: boolean): Promise<void> {
  const [here, there] = [join(project, 'node_modules'), join(source, 'node_modules')];
  if (fromCheckout) await run('sh', ['-c', 'cp -al "$0" "$1" 2>/dev/null || cp -aT "$0" "$1"', here, there]);
  else await run('npm', ['ci', '--prefer-offline', '--loglevel=error', '--prefix', source]);
}

async function makeFiles(
  release: Release,
  files: string,
  options: {
    executables: string | undefined;
    baseSystem: string | undefined;
    withImage: boolean;
    signers: string;
  },
): Promise<void> {
  const { version, source, notes } = release;
  const write = (name: string, text: string) => writeFile(join(files, name), text);
  const lock = await readLockFile(source);
  const licences = await licenceTexts(source, lock);
  const executables = await makeExecutables(release, options.executables);
  for (const { node, debian } of architectures) {
    const executable = join(files, `hearth-${version}-linux-${node}`);
    await rename(executables[node], executable);
    announce(`the package for Debian, ${debian}`);
    await makeDebianPackage(release, {
      architecture: debian,
      executable,
      licences,
      output: join(files, `hearth_${version}_${debian}.deb`),
    });
  }
  const baseSystems = options.withImage ? await makeBaseSystems(release, options.baseSystem) : null;
  if (baseSystems !== null) {
    announce('the image');
    await makeImage(release, { baseSystems, files, output: join(files, `hearth-${version}-image.tar`) });
  }
  const packaging = join(source, 'packaging');
  for (const name of ['compose.yaml', 'kubernetes.yaml', 'install.sh'])
    await write(
      name,
      (await readFile(join(packaging, name), 'utf8'))
        .replaceAll('hearth:latest', `hearth:${version}`)
        .replaceAll('@VERSION@', version)
        .replaceAll('@SIGNERS@', options.signers.trim()),
    );
  await write('CHANGES.md', notes);
  await write('THIRD-PARTY-LICENCES.txt', licences);
  await write(`hearth-${version}.cdx.json`, billOfMaterials(release, lock));
  await write('allowed_signers', options.signers);
  await write(
    'provenance.json',
    await provenance(release, { lock, subjects: await sumsOf(files), packages: baseSystems?.packages ?? [] }),
  );
}

/** Refuses when the branch moved meanwhile; then nothing is left. */
async function publish({ source, version, base, commit }: Release, files: string, output: string): Promise<void> {
  const git = (...words: string[]) => run('git', ['-C', project, ...words]);
  await git('fetch', '--quiet', '--no-tags', source, `refs/tags/v${version}`);
  if ((await git('rev-parse', 'HEAD')) !== base) throw new Refusal('The branch moved while the release was made.');
  await rename(files, output);
  try {
    await git('merge', '--quiet', '--ff-only', commit);
    await git('fetch', '--quiet', '--no-tags', source, `refs/tags/v${version}:refs/tags/v${version}`);
  } catch (error) {
    await git('reset', '--quiet', '--hard', base);
    await rm(output, { recursive: true, force: true });
    throw error;
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const isUsage = typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS');
  const isExpected = error instanceof Refusal || isUsage || code === 'ENOSPC' || isInterrupted;
  if (!isExpected) throw error;
  const text = code === 'ENOSPC' ? 'The disk is full.' : message;
  if (!isInterrupted) console.error(`scripts/release: ${text} Nothing was released.`);
  process.exitCode = 1;
}
