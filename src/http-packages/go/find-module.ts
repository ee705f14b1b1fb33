import { notFound, nullIfNotFound } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';
import { packageNotFound } from '../../packages/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { declaredPath, maxGoModBytes } from './go-mod.ts';
import { declaresMajor, isModulePath, majorOfSuffix, splitMajor } from './module-path.ts';
import { isPseudoVersion, parsePseudoVersion } from './pseudo-version.ts';
import { buildOf, incompatible, isVersion } from './semantic-version.ts';

export type GoDeps = Pick<PackageHttpDeps, 'config' | 'owners' | 'repositories' | 'git'>;

/** A path of a module in a repository of this server, whether or not a commit has a module there. */
export interface ModuleAt {
  path: string;
  /** The bare repository. */
  repository: string;
  /** Its name with the owner, as this server spells it. */
  name: { owner: string; name: string };
  /** Whether the path is that of the whole repository, its major version included. */
  isRoot: boolean;
  /** The folder of the repository in which it is, or in whose folder `v2` it is; empty for the root. */
  folder: string;
  /** `/v2` of its path; empty for none. */
  major: string;
}

/** To those who may read the repository; the words are for the person at `go get`. */
export const noModule = (words: string): DomainError => notFound('package_version_not_found', `${words}.`);

/**
 * Finds the repository of a module: `git.example.org/alice/lib`, a folder in it, and `/v2` behind either. Refuses
 * `package_not_found` for everything else, the same for absent and hidden.
 * @param host the name of this server, without a port
 * @param owner whose modules are asked for
 */
export async function findModule(
  deps: GoDeps,
  viewer: Viewer,
  { host, owner, path }: { host: string; owner: string; path: string },
): Promise<ModuleAt> {
  const [first, handle = '', spelled = ''] = path.split('/');
  if (!isModulePath(path) || first !== host || spelled === '') throw packageNotFound();
  const [asked, found] = await Promise.all([
    deps.owners.resolve(owner),
    deps.repositories.find(viewer, handle, spelled.replace(/\.git$/, '')).catch(nullIfNotFound),
  ]);
  if (found === null || asked?.id !== found.owner.id) throw packageNotFound();
  const root = [first, handle, spelled].join('/');
  const { prefix, major } = splitMajor(path)!;
  const isRoot = root === path;
  // The name of a repository may end like a major version.
  const folder = isRoot ? '' : prefix.slice(root.length + 1);
  return { path, repository: found.path, name: found.canonical, isRoot, folder, major };
}

/** `v2` where the path says it. */
export const majorOfModule = ({ major }: ModuleAt): string => majorOfSuffix(major);

/** What tags of a module begin with: `sub/` of one in a folder. */
export const tagPrefix = ({ folder }: ModuleAt): string => (folder === '' ? '' : `${folder}/`);

/** The tag of a version; the digits of the commit of a pseudo-version; anything else as it is. */
export function revisionOf(module: ModuleAt, version: string): string {
  if (!isVersion(version)) return version;
  if (isPseudoVersion(version)) return parsePseudoVersion(version)!.commit;
  const plain = buildOf(version) === incompatible ? version.slice(0, -incompatible.length) : version;
  return tagPrefix(module) + plain;
}

/**
 * The commit of a tag, a branch or an id of at least seven digits, tags first: a branch must not replace a version.
 * Null for none.
 */
export async function commitOf({ git }: Pick<GoDeps, 'git'>, path: string, revision: string): Promise<string | null> {
  for (const ref of [`refs/tags/${revision}`, `refs/heads/${revision}`]) {
    // Asked first: a branch may be called `refs/tags/v1.0.0`.
    if ((await git.refs.tip(path, ref)) === null) continue;
    const oid = await git.refs.resolve(path, ref).catch(nullIfNotFound);
    if (oid !== null) return oid;
  }
  if (revision === 'HEAD') return (await git.refs.head(path)).oid;
  return (await git.objects.namedCommits(path, [revision])).get(revision) ?? null;
}

/** A file of a commit; null for none. Refuses `package_version_not_found` above the size that Go reads. */
export async function readFile(
  { git }: Pick<GoDeps, 'git'>,
  path: string,
  oid: string,
  file: string,
): Promise<Buffer | null> {
  const entry = await git.objects.entryAt(path, oid, file).catch(nullIfNotFound);
  if (entry === null || entry.type !== 'blob') return null;
  const { content } = await git.objects.blob(path, entry.oid, { maxBytes: maxGoModBytes });
  if (content === null) throw noModule(`The file ${file} has more than 16 MiB`);
  return content;
}

/** Where a commit has a module. */
export interface ModuleFolder {
  /** From the root of the repository; empty for the root itself. */
  folder: string;
  /** Null where it has none, which a module at the root need not have. */
  goMod: Buffer | null;
}

/**
 * The folder of a module in a commit: that of its path, or the folder `v2` below it (go.dev/ref/mod, "Module
 * directories within a repository"). Refuses `package_version_not_found` where neither is one.
 */
export async function folderInCommit(deps: Pick<GoDeps, 'git'>, module: ModuleAt, oid: string): Promise<ModuleFolder> {
  const { repository, folder, major, isRoot } = module;
  const at = (below: string): string => (below === '' ? 'go.mod' : `${below}/go.mod`);
  const goMod = await readFile(deps, repository, oid, at(folder));
  const declared = goMod === null ? '' : declaredPath(goMod.toString());
  const isHere =
    goMod !== null && (declaresMajor(declared, major) || (major === '' && declared.startsWith('gopkg.in/')));
  if (major !== '' && !isRoot) {
    const below = tagPrefix(module) + majorOfModule(module);
    const other = await readFile(deps, repository, oid, at(below));
    if (other !== null) {
      const path = declaredPath(other.toString());
      if (!declaresMajor(path, major)) throw noModule(`${at(below)} declares the path ${JSON.stringify(path)}`);
      if (isHere) throw noModule(`${at(folder)} and ${at(below)} both declare a path that ends in ${major}`);
      return { folder: below, goMod: other };
    }
  }
  if (isHere) return { folder, goMod };
  if (goMod !== null) throw noModule(`${at(folder)} declares the path ${JSON.stringify(declared)}`);
  if (folder === '' && major === '') return { folder, goMod };
  throw noModule(`There is no file ${at(folder)} in this version`);
}
