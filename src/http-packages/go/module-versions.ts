import { nullIfNotFound } from '../../kernel/index.ts';
import type { GoDeps, ModuleAt, ModuleFolder } from './find-module.ts';
import { commitOf, folderInCommit, majorOfModule, noModule, readFile, revisionOf, tagPrefix } from './find-module.ts';
import { readRetractions } from './go-mod.ts';
import { fitsMajor } from './module-path.ts';
import { isPseudoVersion, parsePseudoVersion, pseudoVersion, shortId, timestampOf } from './pseudo-version.ts';
import {
  canonical,
  canonicalOfModule,
  compareVersions,
  incompatible,
  majorOf,
  prereleaseOf,
} from './semantic-version.ts';

/** A version of a module, and its commit. */
export interface ModuleVersion {
  version: string;
  oid: string;
  /** Commit time, in milliseconds since the epoch. */
  at: number;
  folder: ModuleFolder;
}

/** The versions from the tags of a module, lowest first. */
export async function listVersions(deps: Pick<GoDeps, 'git'>, module: ModuleAt): Promise<string[]> {
  const { repository, folder, major } = module;
  const refs = await deps.git.queries.cachedRefs(repository);
  const prefix = `refs/tags/${tagPrefix(module)}`;
  const tags = refs
    .page(`${prefix}v`, 0, refs.size)
    .map(({ name }) => `v${name}`)
    .filter((tag) => tag === canonical(tag) && !isPseudoVersion(tag));
  const versions = tags.filter((tag) => fitsMajor(tag, major)).sort(compareVersions);
  if (folder !== '' || major !== '') return versions;
  return [...versions, ...(await incompatibleVersions(deps, module, versions.at(-1), tags))];
}

/**
 * Tags of v2 and above in a repository without a `go.mod` at them (go.dev/ref/mod, "Compatibility with non-module
 * repositories"); none if the last version below v2 has one.
 */
async function incompatibleVersions(
  deps: Pick<GoDeps, 'git'>,
  { repository }: ModuleAt,
  last: string | undefined,
  tags: readonly string[],
): Promise<string[]> {
  const higher = tags.filter((tag) => !fitsMajor(tag, '')).sort(compareVersions);
  const hasGoMod = async (tag: string): Promise<boolean> => {
    const oid = await commitOf(deps, repository, tag);
    return oid !== null && (await readFile(deps, repository, oid, 'go.mod')) !== null;
  };
  if (higher.length === 0 || (last !== undefined && (await hasGoMod(last)))) return [];
  const lastOfMajor = new Map(higher.map((tag) => [majorOf(tag), tag]));
  const withGoMod = new Set<string>();
  for (const [major, tag] of lastOfMajor) if (await hasGoMod(tag)) withGoMod.add(major);
  return higher.filter((tag) => !withGoMod.has(majorOf(tag))).map((tag) => tag + incompatible);
}

/** The last one without a prerelease, otherwise the last one. @param versions lowest first */
const highestRelease = (versions: readonly string[]): string | undefined =>
  versions.findLast((version) => prereleaseOf(version) === '') ?? versions.at(-1);

/** The versions that the `go.mod` of the last version retracts. */
async function retractionsOf(
  deps: Pick<GoDeps, 'git'>,
  module: ModuleAt,
  versions: readonly string[],
): Promise<(version: string) => boolean> {
  const highest = highestRelease(versions.filter((version) => !version.endsWith(incompatible)));
  const oid = highest === undefined ? null : await commitOf(deps, module.repository, revisionOf(module, highest));
  const folder = oid === null ? null : await folderInCommit(deps, module, oid).catch(nullIfNotFound);
  return readRetractions(folder?.goMod?.toString() ?? '');
}

/**
 * Resolves a version, branch, tag or commit id to a version, as the go command does in a clone. Throws
 * `package_version_not_found`.
 */
export async function findModuleVersion(
  deps: Pick<GoDeps, 'git'>,
  module: ModuleAt,
  query: string,
): Promise<ModuleVersion> {
  const oid = await commitOf(deps, module.repository, revisionOf(module, query));
  if (oid === null) throw noModule(`There is no version, branch, tag or commit ${query}`);
  const { committer } = await deps.git.objects.commit(module.repository, oid);
  const found = { oid, at: committer.at, folder: await folderInCommit(deps, module, oid) };
  if (isPseudoVersion(query)) {
    await checkPseudoVersion(deps, module, query, found);
    return { ...found, version: await checkMajor(deps, module, query, query, oid) };
  }
  if (query !== '' && query === canonicalOfModule(query)) {
    const base = canonical(query);
    return { ...found, version: await checkMajor(deps, module, base, query, oid) };
  }
  return { ...found, version: await versionOfCommit(deps, module, query, found) };
}

/** The last released version that is not retracted; otherwise that of the default branch. */
export async function findLatest(deps: Pick<GoDeps, 'git'>, module: ModuleAt): Promise<ModuleVersion> {
  const versions = await listVersions(deps, module);
  const isRetracted = await retractionsOf(deps, module, versions);
  const latest = highestRelease(versions.filter((version) => !isRetracted(version)));
  return findModuleVersion(deps, module, latest ?? 'HEAD');
}

/**
 * Adds `+incompatible` if it is required or requested.
 * @param version the canonical version
 * @param asked as the client spelled it
 */
async function checkMajor(
  deps: Pick<GoDeps, 'git'>,
  module: ModuleAt,
  version: string,
  asked: string,
  oid: string,
): Promise<string> {
  const base = version.endsWith(incompatible) ? version.slice(0, -incompatible.length) : version;
  const isAsked = asked.endsWith(incompatible);
  if (fitsMajor(base, module.major)) {
    if (isAsked) throw noModule(`${base} is compatible: it takes no ${incompatible}`);
    return base;
  }
  if (!(await mayBeIncompatible(deps, module, base, isAsked, oid)))
    throw noModule(
      module.major === ''
        ? `This version has a go.mod, so the path has to end in /${majorOf(base)}`
        : `The path of the module ends in ${module.major}, and ${base} is another major version`,
    );
  return base + incompatible;
}

async function mayBeIncompatible(
  deps: Pick<GoDeps, 'git'>,
  { folder, major, repository }: ModuleAt,
  version: string,
  isAsked: boolean,
  oid: string,
): Promise<boolean> {
  if (folder !== '' || major !== '' || (await readFile(deps, repository, oid, 'go.mod')) !== null) return false;
  return isAsked || (await readFile(deps, repository, oid, `${majorOf(version)}/go.mod`)) === null;
}

/** The version of a module's tag, without build metadata; empty for none. */
function versionOfTag(module: ModuleAt, tag: string): string {
  const prefix = tagPrefix(module);
  const version = tag.startsWith(prefix) ? tag.slice(prefix.length) : '';
  const whole = canonical(version);
  return whole === '' || isPseudoVersion(version) || !version.startsWith(whole) ? '' : whole;
}

/** The highest version at a commit, otherwise a pseudo-version above those in its history. */
async function versionOfCommit(
  deps: Pick<GoDeps, 'git'>,
  module: ModuleAt,
  query: string,
  { oid, at }: Omit<ModuleVersion, 'version'>,
): Promise<string> {
  const isRetracted = await retractionsOf(deps, module, await listVersions(deps, module));
  const prefix = tagPrefix(module);
  const refused = new Set<string>();
  const tags = (await deps.git.queries.mergedTags(module.repository, oid, prefix))
    .map(({ name, isHere }) => {
      const version = versionOfTag(module, name);
      return { version, isHere, isCanonical: name === prefix + version };
    })
    .filter(({ version }) => version !== '');
  const others = new Map(tags.map(({ version }) => [majorOf(version), version]));
  for (const [major, version] of others)
    if (!fitsMajor(version, module.major) && !(await mayBeIncompatible(deps, module, version, false, oid)))
      refused.add(major);
  const equal = tags.filter(({ version, isHere }) => isHere && compareVersions(version, query) === 0);
  const exact = equal.find(({ isCanonical }) => isCanonical);
  if (exact !== undefined) return checkMajor(deps, module, exact.version, '', oid);
  const highest = (some: typeof tags): string =>
    some.reduce((best, { version }) => (compareVersions(best, version) < 0 ? version : best), '');
  const allowed = tags.filter(({ version }) => !refused.has(majorOf(version)) && !isRetracted(version));
  const here = highest(allowed.filter(({ isHere, isCanonical }) => isHere && isCanonical));
  if (here !== '') return checkMajor(deps, module, here, '', oid);
  const older = equal[0]?.version ?? highest(allowed);
  return checkMajor(deps, module, pseudoVersion(majorOfModule(module), older, { oid, at }), '', oid);
}

/** Throws `package_version_not_found` if a pseudo-version does not match the commit. */
async function checkPseudoVersion(
  deps: Pick<GoDeps, 'git'>,
  module: ModuleAt,
  version: string,
  { oid, at }: Pick<ModuleVersion, 'oid' | 'at'>,
): Promise<void> {
  const { base, time, commit } = parsePseudoVersion(version)!;
  const refuse = (words: string) => noModule(`${version} is no version of this module: ${words}`);
  if (commit !== shortId(oid)) throw refuse(`the commit is written ${shortId(oid)}`);
  if (time !== timestampOf(at)) throw refuse(`its commit was made at ${timestampOf(at)}`);
  if (base === null) throw refuse('nothing comes before it');
  if (base === '') {
    if (module.major === '' && majorOf(version) === 'v1') throw refuse('without a tag before it, it begins with v0');
    return;
  }
  const prefix = tagPrefix(module);
  const plain = canonical(base);
  const tags = (await deps.git.queries.mergedTags(module.repository, oid, prefix)).filter(
    ({ name }) => compareVersions(name.slice(prefix.length), plain) === 0,
  );
  if (tags.length === 0) throw refuse(`no tag of ${plain} is in its history`);
  if (tags.some(({ name, isHere }) => isHere && name === prefix + plain)) throw refuse(`its commit is ${plain}`);
}
