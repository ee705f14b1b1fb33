import type { Issue } from '../../issues/index.ts';
import { reviewedRounds } from '../../pulls/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { DeploymentDetails, NotificationRow, ReleaseDetails, RunDetails } from '../schema/notification-schema.ts';

/** A notification with its subject. */
export interface Notification extends NotificationRow {
  isUnread: boolean;
  place: Located;
  /** Null for runs, deployments and releases. */
  issue: Issue | null;
  /** The last failed run, or the run of a deployment; null for other subjects. */
  run: RunDetails | null;
  /** Null for other subjects. */
  deployment: DeploymentDetails | null;
  /** The last round that the user reviewed, of a pull request that has a newer one. */
  reviewedRound: number | null;
  /** Null for other subjects. */
  release: ReleaseDetails | null;
  /** The subject in a terminal: `alice/roof#7`, `alice/roof run 3`, `alice/roof v1.0`. */
  about: string;
  title: string;
}

/** Adds the subjects to rows of one user, who can see them; omits removed ones. */
export async function describeNotifications(
  deps: Pick<NotificationDeps, 'db' | 'repositories' | 'issues'>,
  rows: readonly NotificationRow[],
): Promise<Notification[]> {
  const issueIds = rows.flatMap(({ issueId }) => issueId ?? []);
  const [places, issues, reviewed] = await Promise.all([
    deps.repositories.locate(rows.map(({ repositoryId }) => repositoryId)),
    issueIds.length === 0 ? [] : deps.issues.findByIds(issueIds),
    reviewedRounds(deps.db, rows[0]?.userId ?? '', issueIds),
  ]);
  const issueById = new Map(issues.map((issue) => [issue.id, issue]));
  return rows.flatMap((row) => {
    const place = places.get(row.repositoryId);
    const issue = row.issueId === null ? null : issueById.get(row.issueId);
    if (place === undefined || issue === undefined) return [];
    const isUnread = row.listedAt !== null && row.readAt === null && row.doneAt === null;
    const details = <Details>(kind: 'run' | 'release' | 'deployment'): Details | null =>
      row.subject.startsWith(`${kind}:`) ? (JSON.parse(row.details) as Details) : null;
    const release = details<ReleaseDetails>('release');
    const deployment = details<DeploymentDetails>('deployment');
    const run = deployment ?? details<RunDetails>('run');
    const words = describe({ place, issue, run, deployment, release });
    return [
      {
        ...row,
        ...words,
        isUnread,
        place,
        issue,
        run,
        deployment,
        release,
        reviewedRound: reviewed.get(issue?.id ?? '') ?? null,
      },
    ];
  });
}

function describe({
  place,
  issue,
  run,
  deployment,
  release,
}: Pick<Notification, 'place' | 'issue' | 'run' | 'deployment' | 'release'>): Pick<Notification, 'about' | 'title'> {
  const name = `${place.owner.handle}/${place.repository.name}`;
  if (issue !== null) return { about: `${name}#${issue.number}`, title: issue.title };
  if (release !== null) return { about: `${name} ${release.tag}`, title: release.title || release.tag };
  const title =
    deployment === null
      ? `${run!.workflow}: ${run!.title}`
      : `${deployment.workflow} waits to deploy to ${deployment.environment}: ${deployment.title}`;
  return { about: `${name} run ${run!.number}`, title };
}
