import { localAdministrator, refusalOnPackage, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { rowBy, selectRows } from '../../db/index.ts';
import type { RowSource } from '../../db/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { PackageDeps } from '../deps.ts';
import type { FormatName } from '../formats/format.ts';
import { tagsOfVersions } from '../lists/list-versions.ts';
import { errorOfRefusal } from '../package-errors.ts';
import { ownerFactsOf, refuseOff } from '../rights/find-package.ts';
import type { FoundPackage } from '../rights/find-package.ts';
import { packageSchema, packageVersionSchema } from '../schema/package-schema.ts';
import type { PackageRow, PackageVersionRow } from '../schema/package-schema.ts';
import { packageRetentionSchema } from '../schema/retention-schema.ts';
import { findPackageAgain, trashVersion } from '../versions/delete-version.ts';
import { allVersions } from '../versions/read-versions.ts';
import { chooseVersions } from './choose-versions.ts';
import { checkRetention, readRetention } from './retention-rules.ts';
import type { RetentionRules } from './retention-rules.ts';

/** Rules of an owner: for one format, or for all formats without their own. */
export type RetentionFormat = FormatName | '*';

/**
 * Sets the rules of one package, which override those of its owner; null removes them. Throws `package_retention`,
 * `package_denied`, `package_scope`.
 */
export async function setRetention(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id } }: Pick<FoundPackage, 'package'>,
  rules: RetentionRules | null,
): Promise<PackageRow> {
  const retention = rules === null ? null : JSON.stringify(checkRetention(rules));
  const row = await deps.db.write(async (tx) => {
    const found = await findPackageAgain(deps, tx, viewer, id, 'manage');
    await tx.manager.update(packageSchema, { id }, { retention });
    return { ...found, retention };
  });
  deps.logger.info('package.retention_changed', { packageId: id, rules: retention, by: viewerForLog(viewer) });
  return row;
}

/** Refuses all users who do not administer the packages of an owner. */
async function refuseOwner(deps: PackageDeps, source: RowSource, viewer: Viewer, owner: Owner): Promise<void> {
  refuseOff(deps);
  const facts = await ownerFactsOf(deps, source, viewer, owner);
  const refusal = refusalOnPackage(viewer, { owner: facts, visibility: 'PRIVATE', repository: null }, 'manage');
  if (refusal !== null) throw errorOfRefusal(refusal, 'manage');
}

/** The rules of an owner by format. Throws `package_denied` and `package_scope`, also for an absent owner. */
export async function ownerRetention(
  deps: PackageDeps,
  viewer: Viewer,
  owner: Owner,
): Promise<Partial<Record<RetentionFormat, RetentionRules>>> {
  await refuseOwner(deps, deps.db.read, viewer, owner);
  const rows = await deps.db.read.findBy(packageRetentionSchema, { ownerId: owner.id });
  return Object.fromEntries(rows.map(({ format, rules }) => [format, readRetention(rules)]));
}

/** Sets the rules of an owner for a format; null removes them. Refuses as `ownerRetention`, and `package_retention`. */
export async function setOwnerRetention(
  deps: PackageDeps,
  viewer: Viewer,
  owner: Owner,
  format: RetentionFormat,
  rules: RetentionRules | null,
): Promise<void> {
  const checked = rules === null ? null : JSON.stringify(checkRetention(rules));
  const ownerId = owner.id;
  await deps.db.write(async ({ manager, now }) => {
    await refuseOwner(deps, manager, viewer, owner);
    if (checked === null) await manager.delete(packageRetentionSchema, { ownerId, format });
    else
      await manager.upsert(packageRetentionSchema, { ownerId, format, rules: checked, updatedAt: now }, [
        'ownerId',
        'format',
      ]);
  });
  deps.logger.info('package.retention_changed', { ownerId, format, rules: checked, by: viewerForLog(viewer) });
}

/** The effective rules of a package, its own or those of its owner; null for none. */
export async function retentionOf(
  { db }: Pick<PackageDeps, 'db'>,
  { ownerId, format, retention }: Pick<PackageRow, 'ownerId' | 'format' | 'retention'>,
): Promise<{ rules: RetentionRules; from: 'package' | 'format' | 'owner' } | null> {
  if (retention !== null) return { rules: readRetention(retention), from: 'package' };
  for (const [of, from] of [
    [format, 'format'],
    ['*', 'owner'],
  ] as const) {
    const row = await rowBy(db.read, packageRetentionSchema, { ownerId, format: of });
    if (row !== null) return { rules: readRetention(row.rules), from };
  }
  return null;
}

/**
 * The versions that rules would delete now; the effective rules of the package if omitted. Throws `package_retention`.
 */
export async function previewRetention(
  deps: PackageDeps,
  found: Pick<FoundPackage, 'package'>,
  rules?: RetentionRules,
): Promise<PackageVersionRow[]> {
  const checked = rules === undefined ? (await retentionOf(deps, found.package))?.rules : checkRetention(rules);
  return checked === undefined ? [] : chosen(deps, found, checked);
}

async function chosen(
  deps: PackageDeps,
  found: Pick<FoundPackage, 'package'>,
  rules: RetentionRules,
): Promise<PackageVersionRow[]> {
  const rows = await allVersions(deps, found);
  const hasTags = found.package.format === 'oci' || found.package.format === 'npm';
  const ids = rows.map(({ id }) => id);
  const tags = new Map<string, readonly string[]>();
  for (let at = 0; hasTags && at < ids.length; at += 500)
    for (const [id, names] of await tagsOfVersions(deps, ids.slice(at, at + 500))) tags.set(id, names);
  const versions = rows.map((row) => ({
    ...row,
    tags: tags.get(row.id) ?? [],
    ...(found.package.format === 'oci' ? { at: row.updatedAt, parts: partsOf(row) } : { at: row.createdAt, parts: [] }),
  }));
  const gone = new Set(chooseVersions(rules, versions, deps.clock.now()).map(({ id }) => id));
  return rows.filter(({ id }) => gone.has(id));
}

/** The manifests of an index. */
function partsOf({ metadata }: PackageVersionRow): string[] {
  const { manifests } = JSON.parse(metadata) as { manifests?: unknown };
  if (!Array.isArray(manifests)) return [];
  return manifests.flatMap(({ digest }: { digest?: unknown }) => (typeof digest === 'string' ? [digest] : []));
}

const atOnce = 200;

/**
 * Deletes the versions that the rules of a package do not keep; they can be restored within the trash time. Repeats for
 * a package that changes concurrently.
 * @returns number of versions
 */
export async function applyRetention(deps: PackageDeps, packageId: string): Promise<number> {
  let deleted = 0;
  for (let looks = 0; looks < 5; looks += 1) {
    const row = await deps.db.read.findOneBy(packageSchema, { id: packageId });
    const effective = row === null ? null : await retentionOf(deps, row);
    if (row === null || effective === null) return deleted;
    const gone = await chosen(deps, { package: row }, effective.rules);
    let { updatedAt } = row;
    let isSame = true;
    for (let at = 0; at < gone.length && isSame; at += atOnce) {
      const some = gone.slice(at, at + atOnce);
      isSame = await deps.db.write(async (tx) => {
        const again = await tx.manager.findOneBy(packageSchema, { id: packageId });
        if (again === null || again.updatedAt !== updatedAt || again.retention !== row.retention) return false;
        for (const version of some) {
          const present = await tx.manager.findOneBy(packageVersionSchema, { id: version.id });
          if (present !== null && present.deletedAt === null)
            await trashVersion(deps, tx, localAdministrator, again, present);
        }
        updatedAt = Math.max(tx.now, updatedAt + 1);
        await tx.manager.update(packageSchema, { id: packageId }, { updatedAt });
        return true;
      });
      if (isSame) deleted += some.length;
    }
    if (isSame) {
      if (gone.length > 0)
        deps.logger.info('package.retention_applied', {
          packageId,
          format: row.format,
          name: row.name,
          versions: gone.length,
        });
      return deleted;
    }
  }
  return deleted;
}

/** For the nightly task and `hearth package retain`: every package with rules. @returns number of deleted versions */
export async function applyAllRetention(
  deps: PackageDeps,
  { shouldContinue = async () => true }: { shouldContinue?: () => Promise<boolean> } = {},
): Promise<{ packages: number; versions: number }> {
  const done = { packages: 0, versions: 0 };
  for (let after = ''; await shouldContinue(); ) {
    const rows = await selectRows(
      deps.db.read,
      packageSchema,
      `SELECT p.* FROM packages p WHERE p.id > :after AND p.versions > 0 AND (p.retention IS NOT NULL
        OR EXISTS (SELECT 1 FROM package_retention o WHERE o.owner_id = p.owner_id AND o.format IN (p.format, '*')))
        ORDER BY p.id LIMIT 100`,
      { after },
    );
    for (const { id } of rows) {
      const versions = await applyRetention(deps, id);
      done.packages += versions > 0 ? 1 : 0;
      done.versions += versions;
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  return done;
}
