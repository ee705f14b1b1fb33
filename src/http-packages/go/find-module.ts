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

/** A module path in a repository of this server, whether or not a commit contains a module there. */
export interface ModuleAt {
  path: string;
  /** The bare repository. */
  repository: string;
  /** Its name with the owner, as spelled on this server. */
  name: { owner: string; name: string };
  /** Whether the path is that of the whole repository, with or without a major version. */
  isRoot: boolean;
  /** The folder of the module in the repository, or the parent of its folder `v2`; empty for the root. */
  folder: string;
  /** `/v2` of its path; empty if it has none. */
  major: string;
}

/** For viewers who can read the repository; the message is shown to the user of `go get`. */
export const noModule = (words: string): DomainError => notFound('package_version_not_found', `${words}.`);

/**
 * Finds the repository of a module: `git.example.org/alice/lib`, optionally followed by a folder and by `/v2`. Throws
 * `package_not_found` for everything else, alike for absent and hidden repositories.
 * @param host the name of this server, without a port
 * @param owner owner of the requested modules
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

/** `v2` if the path contains it. */
export const majorOfModule = ({ major }: ModuleAt): string => majorOfSuffix(major);

/** Prefix of the tags of a module: `sub/` for one in a folder. */
export const tagPrefix = ({ folder }: ModuleAt): string => (folder === '' ? '' : `${folder}/`);

/** The tag of a version; the commit digits of a pseudo-version; anything else unchanged. */
export function revisionOf(module: ModuleAt, version: string): string {
  if (!isVersion(version)) return version;
  if (isPseudoVersion(version)) return parsePseudoVersion(version)!.commit;
  const plain = buildOf(version) === incompatible ? version.slice(0, -incompatible.length) : version;
  return tagPrefix(module) + plain;
}

/**
 * The commit of a tag, a branch or an id of at least seven digits; tags take precedence, since a branch must not
 * replace a version. Null for none.
 */
export async function commitOf({ git }: Pick<GoDeps, 'git'>, path: string, revision: string): Promise<string | null> {
  for (const ref of [`refs/tags/${revision}`, `refs/heads/${revision}`]) {
    // Checked first: a branch may be called `refs/tags/v1.0.0`.
    if ((await git.refs.tip(path, ref)) === null) continue;
    const oid = await git.refs.resolve(path, ref).catch(nullIfNotFound);
    if (oid !== null) return oid;
  }
  if (revision === 'HEAD') return (await git.refs.head(path)).oid;
  return (await git.objects.namedCommits(path, [revision])).get(revision) ?? null;
}

/** A file of a commit; null if it is absent. Throws `package_version_not_found` above the size that Go reads. */
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

/** Location of a module in a commit. */
export interface ModuleFolder {
  /** Path from the root of the repository; empty for the root itself. */
  folder: string;
  /** Null if there is none: a module at the root does not need one. */
  goMod: Buffer | null;
}

/**
 * The folder of a module in a commit: that of its path, or the folder `v2` below it (go.dev/ref/mod, "Module
 * directories within a repository"). Throws `package_version_not_found` if neither is a module.
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
