import { access, constants, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { localAdministrator, maySync } from '../access/index.ts';
import { readBundleRef } from '../git/index.ts';
import type { BundleFile, ExchangeOptions, Git } from '../git/index.ts';
import { conflict, internal, invalid, nullIfNotFound } from '../kernel/index.ts';
import type { Clock, Random } from '../kernel/index.ts';
import type { ImportedIssues, ImportSource, Issues } from '../issues/index.ts';
import { isOid } from '../lfs/index.ts';
import type { Lfs } from '../lfs/index.ts';
import type { Found, NewRule, Repositories, Repository } from '../repositories/index.ts';
import { checkLogs, logFiles } from './bundle-pulls.ts';
import type { BundlePulls, CheckedLogs, PlannedPulls } from './bundle-pulls.ts';
import { bundleFiles, releaseSource } from './bundle-files.ts';
import { exportedRule, readRules } from './bundle-rules.ts';
import type { Releases } from '../releases/index.ts';
import { diffRefs } from './pull.ts';

/** Dependencies of export and import. */
export interface BundleDeps {
  git: Git;
  repositories: Repositories;
  lfs: Pick<Lfs, 'mirroring'>;
  releases: Pick<Releases, 'bundles'>;
  issues: Pick<Issues, 'exportIssues' | 'checkExport' | 'refuseTakenNumbers' | 'importIssues'>;
  pulls: BundlePulls;
  clock: Clock;
  random: Random;
  /** Folder of temporary repositories, on the file system of the real ones. */
  temporaryFolder: string;
}

/** `repository.json` of an export bundle: the settings of a repository. */
interface Facts {
  format: 1;
  owner: string;
  name: string;
  description: string;
  visibility: 'PUBLIC' | 'PRIVATE';
  defaultBranch: string;
  defaultBranchProtected: boolean;
  /** Missing in bundles of versions without rules; those have only the field above. */
  rules?: readonly NewRule[] | undefined;
  /** Missing in bundles of versions without this setting. */
  acceptsGerritRefs?: boolean;
  isTemplate?: boolean;
  archived: boolean;
  /** `owner/name` of its fork source; missing in older bundles and if it is not a fork. */
  forkedFrom?: string;
  /** Data of the repository that the bundle lacks; missing if it is complete. */
  leftOut?: { pullRequests: number };
  createdAt: string;
  exportedAt: string;
}

const factsFile = 'repository.json';
const imageFile = 'image';
const lfsFolder = 'lfs';
/** Limit of Git LFS objects in one bundle. */
const maxLfsObjects = 200_000;
/** Fifty rules that each name two hundred users. */
const maxFactsBytes = 1024 * 1024;
const maxImageBytes = 4 * 1024 * 1024;
const isTaken = (ref: string): boolean => /^refs\/(?:heads|tags|notes|changes|meta)\//.test(ref);

/**
 * @param pulls the number of omitted pull requests
 */
const readme = (name: string, pulls: number): string => `The repository ${name} of a Hearth, as one git bundle.

git clone FILE FOLDER gives the history, without Hearth. The commit that holds this text says the rest:
${factsFile} has name, description, visibility and default branch; ${imageFile}, when it is there, is the
image of the repository. Its issues are below issues, each as JSON and as a text to read, with labels,
milestones and attached files beside; its pull requests are below pulls in the same way, with their rounds,
reviews and threads below reviews. releases.json has the releases, whose files are below releases, and files of
Git LFS are below ${lfsFolder}, each by its SHA-256. hearth import FILE makes a repository of all of it.
${
  pulls === 0
    ? ''
    : `
Left out: ${pulls === 1 ? '1 pull request' : `${pulls} pull requests`} that nobody has let in yet, or whose commits are gone.
`
}`;

const scratchIn = ({ temporaryFolder, random }: BundleDeps): string =>
  path.join(temporaryFolder, `bundle-${random.uuid()}.git`);

interface ExportedBundle {
  refs: number;
  pullRequests: number;
  bytes: number;
  /** Omitted pull requests: they wait for a member's approval, or their commits no longer exist. */
  leftOut: { pullRequests: number };
}

/**
 * Writes a repository as one file that plain git can clone (an export bundle): branches, tags and notes with their
 * history, Hearth's settings, the issues, and pull requests with the commits of their rounds. Works beside a running
 * server. Throws `parcel_not_written` if the file cannot be written.
 */
export async function exportBundle(deps: BundleDeps, found: Found, target: string): Promise<ExportedBundle> {
  const { repository, canonical, path: folder } = found;
  await access(path.dirname(target), constants.W_OK).catch((cause: unknown) => {
    throw conflict('parcel_not_written', `The folder ${path.dirname(target)} is not writable.`, { cause });
  });
  const own = [...(await deps.git.refs.list(folder))].filter(([ref]) => isTaken(ref));
  const plan = await deps.pulls.portable.plan(repository.id, folder);
  const refs = new Map([...own, ...plan.refs]);
  const rules = await deps.repositories.rules.list(localAdministrator, canonical.owner, canonical.name);
  const leftOut = { pullRequests: plan.leftOut };
  const at = deps.clock.now();
  const facts: Facts = {
    format: 1,
    ...canonical,
    description: repository.description,
    visibility: repository.visibility,
    defaultBranch: repository.defaultBranch,
    defaultBranchProtected: (await deps.repositories.rules.protectedDefaults([repository])).has(repository.id),
    rules: rules.map(exportedRule),
    acceptsGerritRefs: repository.acceptsGerritRefs,
    isTemplate: repository.isTemplate,
    archived: repository.archivedAt !== null,
    ...(await sourceOf(deps, repository)),
    ...(leftOut.pullRequests > 0 && { leftOut }),
    createdAt: new Date(repository.createdAt).toISOString(),
    exportedAt: new Date(at).toISOString(),
  };
  const image = await imageOf(deps, found);
  const name = `${canonical.owner}/${canonical.name}`;
  const unfinished = `${target}.unfinished`;
  try {
    await deps.git.remotes.bundles.write({
      path: folder,
      refs,
      at,
      target: unfinished,
      scratch: scratchIn(deps),
      defaultBranch: repository.defaultBranch,
      message: `Parcel of ${name}`,
      files: metadataFiles(deps, found, { facts, image, plan }),
    });
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
  return { refs: own.length, pullRequests: plan.numbers.size, bytes: (await stat(target)).size, leftOut };
}

/** A public fork does not reveal a source that is now private. */
async function sourceOf(
  { repositories }: BundleDeps,
  repository: Found['repository'],
): Promise<Pick<Facts, 'forkedFrom'>> {
  const source = (await repositories.forks.sourcesOf(localAdministrator, [repository])).get(repository.id);
  if (source === undefined || !maySync(source.repository, repository)) return {};
  return { forkedFrom: `${source.owner.handle}/${source.repository.name}` };
}

async function* metadataFiles(
  { issues, pulls, lfs, releases }: BundleDeps,
  { repository, canonical }: Found,
  { facts, image, plan }: { facts: Facts; image: Buffer | null; plan: PlannedPulls },
): AsyncGenerator<BundleFile> {
  const whole = (name: string, bytes: Buffer): BundleFile => ({ name, size: bytes.length, content: [bytes] });
  yield whole(factsFile, Buffer.from(`${JSON.stringify(facts, null, 2)}\n`));
  yield whole(
    'README.md',
    Buffer.from(readme(`${canonical.owner}/${canonical.name}`, facts.leftOut?.pullRequests ?? 0)),
  );
  if (image !== null) yield whole(imageFile, image);
  yield* logFiles({ issues, pulls }, repository.id, plan);
  yield* releases.bundles.export(repository.id);
  for await (const { oid, bytes, open } of lfs.mirroring.export(repository.id))
    yield { name: `${lfsFolder}/${oid}`, size: bytes, content: (await open()).stream };
}

async function imageOf({ repositories }: BundleDeps, { repository, canonical }: Found): Promise<Buffer | null> {
  if (repository.imageContentType === null) return null;
  const image = await repositories.images.open(localAdministrator, canonical.owner, canonical.name);
  return buffer(image.stream());
}

/** Target of an import, and overrides of the bundle's settings. */
export interface ImportRequest {
  owner?: string | undefined;
  name?: string | undefined;
  visibility?: 'PUBLIC' | 'PRIVATE' | undefined;
  /** Used if the source is not an export bundle. */
  defaultBranch?: string | undefined;
}

export interface Imported {
  found: Found;
  refs: number;
  /** Refs that could not be created, with git's reason. */
  refused: readonly string[];
  /** Null for a bundle without issues. */
  issues: ImportedIssues | null;
  /** Number of pull requests among them. */
  pulls: number;
  releases: number;
}

/**
 * Creates a repository from an export bundle, from any git bundle, or from a local bare repository. git checks every
 * object first. Its refs arrive as a push, so that search and CI are notified. A failed import leaves no repository.
 * Throws `parcel_unreadable`; `parcel_name_missing` if the source is not an export bundle and no name is given; and the
 * errors of `create`.
 * @param source absolute path
 */
export async function importBundle(
  deps: BundleDeps,
  source: string,
  wishes: ImportRequest,
  options?: ExchangeOptions,
): Promise<Imported> {
  const { git, repositories, releases } = deps;
  const scratch = scratchIn(deps);
  let made: Repository | null = null;
  try {
    await git.remotes.bundles.read(source, scratch, options);
    const there = await git.refs.list(scratch);
    const meta = there.get(readBundleRef);
    const facts = meta === undefined ? null : await factsOf(git, scratch, meta);
    const image = meta === undefined ? null : await fileOf(git, scratch, meta, imageFile, maxImageBytes);
    const [owner, name] = [wishes.owner ?? facts?.owner, wishes.name ?? facts?.name];
    if (owner === undefined || name === undefined)
      throw invalid('parcel_name_missing', 'The source does not contain a name: specify the repository to create.');
    const refs = new Map([...there].filter(([ref]) => isTaken(ref)));
    // Everything is read before anything is created: a corrupt bundle changes nothing.
    const issuesAt = meta === undefined || facts === null ? null : bundleFiles(git, scratch, meta);
    const bundle = { path: scratch, refs: there };
    const checked = issuesAt === null ? null : await checkLogs(deps, issuesAt, bundle);
    const releasesAt = meta === undefined || facts === null ? null : releaseSource(git, scratch, meta);
    const released = releasesAt === null ? [] : await releases.bundles.read(releasesAt);
    made = await repositories.create(localAdministrator, {
      owner,
      name,
      visibility: wishes.visibility ?? facts?.visibility ?? 'PRIVATE',
      description: facts?.description,
      // Otherwise the default branch follows the refs, as on any first push.
      defaultBranch: facts?.defaultBranch ?? wishes.defaultBranch,
    });
    const found = await repositories.find(localAdministrator, owner, made.name);
    // Rows of rounds name commits, which must exist first. The objects of the temporary repository stay readable.
    await git.remotes.bundles.takeObjects(scratch, found.path);
    const imported = checked === null || issuesAt === null ? null : await importLogs(deps, found, checked, issuesAt);
    if (meta !== undefined && facts !== null) await importLfsObjects(deps, scratch, meta, found);
    if (releasesAt !== null) await releases.bundles.import(found.repository, released, releasesAt, refs);
    const { results } =
      refs.size === 0
        ? { results: [] }
        : await repositories.pushes.applyUpdates(found, {
            via: 'mirror',
            userId: null,
            updates: diffRefs(new Map(), refs, false),
          });
    const refused = results.flatMap((result) => (result.ok ? [] : [`${result.ref}: ${result.reason}`]));
    if (facts !== null) await importFacts(deps, found, facts, image);
    return {
      found: await repositories.find(localAdministrator, owner, made.name),
      refs: refs.size - refused.length,
      refused,
      issues: imported,
      pulls: checked?.pulls ?? 0,
      releases: released.length,
    };
  } catch (error) {
    if (made !== null) await repositories.trash.discard(made);
    throw error;
  } finally {
    await git.storage.remove(scratch);
  }
}

/** An object whose content does not match its id is refused, and so is the whole import. */
async function importLfsObjects(
  { git, lfs }: BundleDeps,
  scratch: string,
  commit: string,
  { repository }: Found,
): Promise<void> {
  const tree = await git.objects
    .tree(scratch, commit, lfsFolder, { maxEntries: maxLfsObjects, withSizes: true })
    .catch(nullIfNotFound);
  for (const { name: sha256, oid, size, type } of tree?.entries ?? []) {
    if (type !== 'blob' || !isOid(sha256) || size === null) continue;
    const content = await git.queries.streamBlob(scratch, oid);
    await lfs.mirroring.store(repository, { oid: sha256, bytes: size, content }, { hasQuota: false });
  }
}

/**
 * Imports the issues and pull requests of an export bundle into an existing repository: updates those of an earlier
 * import and adds new ones. Its branches and tags do not change. Throws `parcel_unreadable`, `bundle_without_issues`,
 * `issue_number_taken`, `pull_exists`; then nothing is changed.
 * @param source absolute path
 */
export async function updateIssues(
  deps: BundleDeps,
  source: string,
  found: Found,
  options?: ExchangeOptions,
): Promise<ImportedIssues> {
  const { git } = deps;
  const scratch = scratchIn(deps);
  try {
    await git.remotes.bundles.read(source, scratch, options);
    const refs = await git.refs.list(scratch);
    const meta = refs.get(readBundleRef);
    const files = meta === undefined ? null : bundleFiles(git, scratch, meta);
    const checked = files === null ? null : await checkLogs(deps, files, { path: scratch, refs });
    if (files === null || checked === null)
      throw invalid(
        'bundle_without_issues',
        'This bundle has no issues: it was not exported by Hearth, or by an old version.',
      );
    await deps.issues.refuseTakenNumbers(found.repository.id, checked.logs);
    await checked.refuseTaken(found.repository.id);
    if (checked.pulls > 0) await git.remotes.bundles.takeObjects(scratch, found.path);
    return await importLogs(deps, found, checked, files);
  } finally {
    await git.storage.remove(scratch);
  }
}

const importLogs = async (
  { issues }: BundleDeps,
  { repository, canonical, path: folder }: Found,
  { logs, importer }: CheckedLogs,
  source: ImportSource,
): Promise<ImportedIssues> => issues.importIssues(repository, canonical, logs, source, await importer(folder));

async function factsOf(git: Git, scratch: string, meta: string): Promise<Facts> {
  const bytes = await fileOf(git, scratch, meta, factsFile, maxFactsBytes);
  try {
    const facts = JSON.parse(bytes?.toString('utf8') ?? '') as Partial<Facts>;
    const texts = [facts.owner, facts.name, facts.description, facts.defaultBranch];
    if (facts.format === 1 && texts.every((text) => typeof text === 'string'))
      return {
        ...(facts as Facts),
        rules: readRules(facts.rules),
        visibility: facts.visibility === 'PUBLIC' ? 'PUBLIC' : 'PRIVATE',
      };
  } catch {
    // Treated as an unknown value.
  }
  throw invalid('parcel_unreadable', `The description of the repository in this bundle cannot be read (${factsFile}).`);
}

async function fileOf(
  git: Git,
  scratch: string,
  commit: string,
  name: string,
  maxBytes: number,
): Promise<Buffer | null> {
  const read = async () =>
    git.objects.blob(scratch, (await git.objects.entryAt(scratch, commit, name)).oid, { maxBytes });
  return (await read().catch(nullIfNotFound))?.content ?? null;
}

/** Applies the settings that are not parameters of `create`. */
async function importFacts(
  { repositories }: BundleDeps,
  { canonical: { owner, name } }: Found,
  facts: Facts,
  image: Buffer | null,
): Promise<void> {
  if (facts.rules !== undefined) await repositories.rules.replaceAll(localAdministrator, owner, name, facts.rules);
  else if (facts.defaultBranchProtected === false)
    await repositories.edit(localAdministrator, owner, name, { defaultBranchProtected: false });
  if (facts.acceptsGerritRefs === true)
    await repositories.edit(localAdministrator, owner, name, { acceptsGerritRefs: true });
  if (facts.isTemplate === true) await repositories.edit(localAdministrator, owner, name, { isTemplate: true });
  if (image !== null) {
    const { sniffImageType } = await import('../images/index.ts');
    const type = sniffImageType(image);
    if (type === null) throw internal('the image in a bundle is not an image');
    await repositories.images.replace(localAdministrator, owner, name, { declaredType: type, bytes: image });
  }
  const [sourceOwner, sourceName, ...more] =
    typeof facts.forkedFrom === 'string' ? facts.forkedFrom.split('/') : [undefined, undefined];
  if (sourceOwner && sourceName && more.length === 0)
    await repositories.forks.relate(localAdministrator, owner, name, { owner: sourceOwner, name: sourceName });
  if (facts.archived) await repositories.setArchived(localAdministrator, owner, name, true);
}
