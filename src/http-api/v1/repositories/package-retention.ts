import { z } from 'zod';
import { formatOfType } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { FoundPackage, RetentionFormat, RetentionRules } from '../../../packages/index.ts';
import { operation } from '../../operation.ts';
import { json, noContent } from '../../responses.ts';
import { addressOf } from './packages.ts';

const one = '/packages/{owner}/{type}/{name}';
const ofOwnerRules = '/users/{username}/package-retention';

const rulesBody = {
  keep: z.int().nullable().default(null).describe('Number of newest versions to keep; null means no number'),
  keep_tags: z
    .array(z.string().max(200))
    .max(100)
    .default([])
    .describe('Versions and tags to keep: `*` matches any characters'),
  older_than_days: z.int().nullable().default(null).describe('Keep versions younger than this; null means no age'),
};
const retentionRules = z.object(rulesBody);
const retention = z.object({
  rules: retentionRules.nullable(),
  from: z
    .enum(['package', 'format', 'owner'])
    .nullable()
    .describe('Source of the applied rules: the package or its owner'),
  would_delete: z.array(z.string()).describe('Versions, newest first'),
});

const rulesOf = ({ keep, keep_tags: keepTags, older_than_days: olderThanDays }: z.infer<typeof retentionRules>) => ({
  keep,
  keepTags,
  olderThanDays,
});
const rulesPayload = ({ keep, keepTags, olderThanDays }: RetentionRules) => ({
  keep,
  keep_tags: [...keepTags],
  older_than_days: olderThanDays,
});

async function showRetention({ packages }: WebDeps, found: FoundPackage) {
  const [effective, gone] = await Promise.all([
    packages.retention.of(found.package),
    packages.retention.preview(found),
  ]);
  return {
    rules: effective === null ? null : rulesPayload(effective.rules),
    from: effective?.from ?? null,
    would_delete: gone.map((row) => row.version),
  };
}

async function ownerOf({ owners }: WebDeps, handle: string) {
  const owner = await owners.resolve(handle);
  if (owner === null) throw notFound('no_such_owner_here', 'There is no owner with this handle.');
  return owner;
}

const typeOfRules = (format: RetentionFormat): string =>
  format === '*' ? 'any' : format === 'oci' ? 'container' : format;

function formatOfRules(type: string): RetentionFormat {
  const format = type === 'any' ? '*' : formatOfType(type);
  if (format === null) throw notFound('no_such_package_type', 'Packages of this type are not supported here.');
  return format;
}

const read = { tag: 'Packages', access: 'anyone', cost: 'rows', refuses: [404] } as const;
const write = { ...read, scope: 'write' } as const;

export const packageRetentionOperations = [
  operation({
    ...read,
    id: 'getPackageRetention',
    method: 'GET',
    path: `${one}/-/retention`,
    summary: 'Get a package’s retention rules and the versions that they would delete now',
    status: 200,
    response: retention,
    async run({ viewer, params, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'manage');
      return json(await showRetention(deps, found));
    },
  }),
  operation({
    ...write,
    id: 'setPackageRetention',
    method: 'PUT',
    path: `${one}/-/retention`,
    summary: 'Set or preview a package’s retention rules, which override those of its owner',
    description:
      'A nightly task deletes versions that the rules do not keep. They can be restored within the trash retention period.',
    status: 200,
    refuses: [404, 422],
    body: z.strictObject({
      ...rulesBody,
      dry_run: z.boolean().default(false).describe('Preview only: return what the rules would delete now'),
    }),
    response: retention,
    async run({ viewer, params, body, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'manage');
      const rules = rulesOf(body);
      if (body.dry_run) {
        const gone = await deps.packages.retention.preview(found, rules);
        return json({
          rules: rulesPayload(rules),
          from: 'package' as const,
          would_delete: gone.map((row) => row.version),
        });
      }
      const changed = await deps.packages.retention.set(viewer, found, rules);
      return json(await showRetention(deps, { ...found, package: changed }));
    },
  }),
  operation({
    ...write,
    id: 'deletePackageRetention',
    method: 'DELETE',
    path: `${one}/-/retention`,
    summary: 'Remove a package’s retention rules, so that its owner’s rules apply',
    status: 204,
    async run({ viewer, params, deps }) {
      const found = await deps.packages.find(viewer, addressOf(params), 'manage');
      await deps.packages.retention.set(viewer, found, null);
      return noContent();
    },
  }),
  operation({
    ...read,
    id: 'getOwnerPackageRetention',
    method: 'GET',
    path: ofOwnerRules,
    summary: 'Get the package retention rules of a user or an organisation by type',
    status: 200,
    refuses: [404],
    response: z.record(z.string(), retentionRules),
    async run({ viewer, params, deps }) {
      const rules = await deps.packages.retention.ofOwner(viewer, await ownerOf(deps, params.username));
      return json(
        Object.fromEntries(
          Object.entries(rules).map(([format, one]) => [typeOfRules(format as RetentionFormat), rulesPayload(one)]),
        ),
      );
    },
  }),
  operation({
    ...write,
    id: 'setOwnerPackageRetention',
    method: 'PUT',
    path: `${ofOwnerRules}/{type}`,
    summary: 'Set an owner’s package retention rules for one type or for the type "any"',
    status: 204,
    refuses: [404, 422],
    body: z.strictObject(rulesBody),
    async run({ viewer, params, body, deps }) {
      const owner = await ownerOf(deps, params.username);
      await deps.packages.retention.setOfOwner(viewer, owner, formatOfRules(params.type), rulesOf(body));
      return noContent();
    },
  }),
  operation({
    ...write,
    id: 'deleteOwnerPackageRetention',
    method: 'DELETE',
    path: `${ofOwnerRules}/{type}`,
    summary: 'Remove an owner’s package retention rules for one type or for the type "any"',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      const owner = await ownerOf(deps, params.username);
      await deps.packages.retention.setOfOwner(viewer, owner, formatOfRules(params.type), null);
      return noContent();
    },
  }),
];
