import { organisationUrl, personUrl } from '../../http/index.ts';
import { invalid } from '../../kernel/index.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import type { OrganisationHeaderView } from '../app/organisation-header.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { OrganisationOwnerContext, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { IssuesDeps } from './deps.ts';

/** The owner whose repositories the users are blocked from. */
interface BlockPageScope<V> {
  owner(context: V): string;
  url(context: V): string;
  organisation(context: V, deps: IssuesDeps): Promise<OrganisationHeaderView | null>;
}

/** Rows of `issues.listBlocks` on one page. */
const perPage = 100;

function blockPages<V extends PersonContext>(place: BlockPageScope<V>) {
  async function blocksPage(context: V, deps: IssuesDeps, refusal: FormRefusal | null = null): Promise<PageReply> {
    const { viewer, query, form } = context;
    const { issues, owners, clock } = deps;
    const after = /^[0-9a-f-]{36}$/.exec(query.get('after') ?? '')?.[0];
    const rows = await issues.listBlocks(viewer, place.owner(context), after);
    const people = await owners.ownersById(rows.flatMap(({ userId, blockedBy }) => [userId, blockedBy ?? userId]));
    const last = rows.length === perPage ? rows.at(-1) : undefined;
    return page('issues/blocks', {
      organisation: await place.organisation(context, deps),
      name: place.owner(context),
      url: place.url(context),
      blocks: rows.flatMap(({ userId, reason, blockedBy, createdAt }) => {
        const person = people.get(userId);
        if (person === undefined) return [];
        return [
          {
            username: person.handle,
            url: personUrl(person.handle),
            avatar: viewAvatar(person.id, person.avatarAt),
            reason,
            by: blockedBy === null || blockedBy === viewer.id ? null : (people.get(blockedBy)?.handle ?? null),
            at: viewTime(createdAt, clock.now()),
          },
        ];
      }),
      next: last === undefined ? null : `${place.url(context)}?after=${last.userId}`,
      form: {
        username: form.text('username') || (query.get('username') ?? '').slice(0, 39),
        reason: form.text('reason'),
      },
      refusal,
      notice: viewFlashMessage(query),
    });
  }

  return {
    show: (context: V, deps: IssuesDeps) => blocksPage(context, deps),
    /** Fields `username` and `reason`. */
    add: (context: V, deps: IssuesDeps) =>
      submitForm(
        async () => {
          const { form, viewer } = context;
          const block = {
            owner: place.owner(context),
            username: form.text('username').trim(),
            reason: form.text('reason'),
          };
          // The form with its error says more than a 404.
          if ((await deps.owners.resolve(block.username))?.kind !== 'user')
            throw invalid('unknown_username', 'No user has this username.', { field: 'username' });
          await deps.issues.block(viewer, block);
          return seeOther(withFlashMessage(place.url(context), 'person-blocked'));
        },
        (refusal) => blocksPage(context, deps, refusal),
      ),
    remove: async (context: V, { issues }: IssuesDeps) => {
      await issues.unblock(context.viewer, { owner: place.owner(context), username: context.params['username'] ?? '' });
      return seeOther(withFlashMessage(place.url(context), 'person-unblocked'));
    },
  };
}

export const personBlocks = blockPages<PersonContext>({
  owner: ({ person }) => person.username ?? '',
  url: () => '/settings/blocks',
  organisation: async () => null,
});

export const organisationBlocks = blockPages<OrganisationOwnerContext>({
  owner: ({ organisation }) => organisation.name,
  url: ({ organisation }) => `${organisationUrl(organisation.name)}/settings/blocks`,
  organisation: async ({ organisation }, { owners }) =>
    viewOrganisationHeader(organisation, await owners.avatarAt(organisation.id), 'OWNER'),
});
