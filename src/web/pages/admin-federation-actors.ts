import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../reply.ts';
import type { WebRooms } from '../rooms.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { viewFollowedRepository } from '../views/follows.ts';
import { viewNotice, withNotice } from '../views/notices.ts';
import { viewDelivery } from '../views/peers.ts';
import { viewTime } from '../views/times.ts';
import type { Page, PersonVisit } from '../visit.ts';
import { readDeliveryId } from './admin-federation.ts';

const here = '/admin/federation/actors';
/** The command line lists them all. */
const shown = 200;

const cut = <Row, View>(rows: readonly Row[], view: (row: Row) => View) => ({ total: rows.length, rows: rows.slice(0, shown).map(view) });

async function actorsPage({ query }: PersonVisit, { federation, accounts, clock }: WebRooms, refusal: FormRefusal | null): Promise<PageReply> {
  const now = clock.now();
  const repository = query.get('repository')?.trim() ?? '';
  const [follows, keys] = await Promise.all([federation.listFollows(null), federation.listKeys()]);
  const people = await accounts.peopleById(follows.map(({ userId }) => userId));
  const [owner = '', name = ''] = repository.split('/');
  const followers = repository === '' ? null : await federation.followersOf(owner, name);
  return page('admin/federation-actors', {
    isOn: federation.isOperational,
    follows: cut(follows, (follow) => ({ ...viewFollowedRepository(follow, now), who: people.get(follow.userId)?.username ?? '' })),
    keys: cut(keys, ({ actorId, kind, createdAt }) => ({ actorId, kind, created: viewTime(createdAt, now) })),
    repository,
    followers: followers === null ? null : cut(followers, ({ actorId, createdAt }) => ({ actorId, since: viewTime(createdAt, now) })),
    refusal,
    notice: viewNotice(query),
  });
}

/** Who follows what elsewhere, who follows a repository from elsewhere (`?repository=owner/name`), and our actors. */
export const showActors: Page<PersonVisit> = (visit, rooms) => actorsPage(visit, rooms, null);

/** Looks for new repositories of all followed people now. */
export const resyncFollows: Page<PersonVisit> = (visit, rooms) =>
  submit(
    async () => {
      await rooms.federation.resync();
      return seeOther(withNotice(here, 'follows-resynced'));
    },
    (refusal) => actorsPage(visit, rooms, refusal),
  );

/** One delivery with the document that it sends. */
export const showDelivery: Page<PersonVisit> = async ({ params, query }, { federation, clock }) => {
  const row = await federation.showDelivery(readDeliveryId(params.id));
  return page('admin/delivery', {
    delivery: viewDelivery(row, clock.now()),
    target: row.targetInbox,
    activityId: row.activityId,
    document: JSON.stringify(JSON.parse(row.activity), null, 2),
    notice: viewNotice(query),
  });
};

const dayMs = 86_400_000;

/** Field `days`: what was delivered, or given up, longer ago goes. */
export const purgeDeliveries: Page<PersonVisit> = async ({ form }, { federation, clock }) => {
  const days = Number(form.text('days'));
  if (!Number.isInteger(days) || days < 1 || days > 3_650) throw invalid('invalid_days', 'Give a number of days, from 1 to 3650.', { field: 'days' });
  await federation.purgeDeliveries(clock.now() - days * dayMs);
  return seeOther(withNotice('/admin/federation', 'deliveries-purged'));
};
