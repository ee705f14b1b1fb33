import { visibleIssues, visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { SelectQueryBuilder } from 'typeorm';
import type { NotificationDeps } from '../deps.ts';
import { notificationSchema } from '../schema/notification-schema.ts';
import type { NotificationRow } from '../schema/notification-schema.ts';

/**
 * A user's rows, as `n`, whose subjects they can currently read: subjects they lost access to appear neither in lists
 * nor in counts until they can see them again.
 */
export function queryVisibleNotifications(
  { db }: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
  personId: string,
): SelectQueryBuilder<NotificationRow> {
  const repository = visibleRepositories(viewer, 'r');
  const issue = visibleIssues(viewer, 'r', 'i');
  return db.read
    .createQueryBuilder(notificationSchema, 'n')
    .innerJoin('repositories', 'r', 'r.id = n.repository_id')
    .leftJoin('issues', 'i', 'i.id = n.issue_id')
    .where('n.user_id = :personId', { personId })
    .andWhere(`(${repository.sql}) AND (n.issue_id IS NULL OR (${issue.sql}))`, {
      ...repository.parameters,
      ...issue.parameters,
    });
}
