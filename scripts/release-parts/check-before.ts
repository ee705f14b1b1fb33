import { access, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isNewer, isVersion } from '../../src/updates/compare-versions.ts';
import { Refusal, run } from './release-in-progress.ts';

/** Two executables, two packages and an image, with what is needed on the way. */
const neededBytes = 3 * 2 ** 30;

/**
 * What has to hold before anything is made.
 * @returns the commit to release, and the line of allowed signers for the key
 * @throws Refusal
 */
export async function checkBefore(wish: {
  project: string;
  version: string;
  key: string | undefined;
  output: string;
}): Promise<{ commit: string; signers: string }> {
  const { project, version, key, output } = wish;
  const git = (...words: string[]) => run('git', ['-C', project, ...words]);
  if (!isVersion(version))
    throw new Refusal(version === '' ? 'State one version.' : `"${version}" is not a version such as 1.2.0.`);
  if (key === undefined) throw new Refusal('State the SSH key that signs, with --key.');
  const signers = await signersLine(key);
  if (await exists(output)) throw new Refusal(`${output} is there already.`);
  if ((await git('status', '--porcelain')) !== '')
    throw new Refusal('The checkout has changes that are not committed.');
  if ((await git('tag', '--list', `v${version}`)) !== '') throw new Refusal(`The tag v${version} is there already.`);
  const changelog = await readFile(join(project, 'CHANGELOG.md'), 'utf8');
  const released = [...changelog.matchAll(/^## (\d\S*)/gm)].map(([, each]) => each!);
  if (released.includes(version)) throw new Refusal(`CHANGELOG.md has ${version} already.`);
  const older = released.find((each) => !isNewer(version, each));
  if (older !== undefined) throw new Refusal(`${version} is older than ${older}, which is released.`);
  const known = await readFile(join(project, 'packaging/allowed_signers'), 'utf8').catch(() => null);
  if (known !== null && !known.includes(signers.split(' ').slice(2, 4).join(' ')))
    throw new Refusal('The key is not in packaging/allowed_signers.');
  const { bavail, bsize } = await statfs(await nearest(dirname(output)));
  if (process.env['HEARTH_RELEASE_SPACE'] !== 'any' && bavail * bsize < neededBytes)
    throw new Refusal('The disk of the output has less than 3 GiB free.');
  return { commit: await git('rev-parse', 'HEAD'), signers };
}

/** Signs something, so that a key that cannot sign is noticed at once. */
async function signersLine(key: string): Promise<string> {
  if (!(await exists(key))) throw new Refusal(`There is no key ${key}.`);
  const folder = await mkdtemp(join(tmpdir(), 'hearth-release-key-'));
  try {
    await writeFile(join(folder, 'sample'), '');
    const sign = ['-Y', 'sign', '-q', '-n', 'hearth-release', '-f', key, join(folder, 'sample')];
    const cannot = (): never => {
      throw new Refusal(`${key} does not sign: it is no private SSH key, not readable, or has a passphrase.`);
    };
    await run('ssh-keygen', sign).catch(cannot);
    const [type, blob] = (await run('ssh-keygen', ['-y', '-P', '', '-f', key]).catch(cannot)).split(' ');
    return `hearth-release namespaces="hearth-release" ${type} ${blob}\n`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** The first folder above that is there. */
const nearest = async (folder: string): Promise<string> => ((await exists(folder)) ? folder : nearest(dirname(folder)));
