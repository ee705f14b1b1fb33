import { isDomainError } from '../../kernel/index.ts';
import { t } from '../../translation/index.ts';
import { page, type Reply } from '../app/reply.ts';

/** Links that work once: an invitation, the first setup, and a sign-in link of an administrator. */
const links = {
  sign_up_closed: ['sign_in.link_closed.invite', 'sign_in.link_closed.ask_for_an_invite'],
  setup_closed: ['sign_in.link_closed.setup', 'sign_in.link_closed.print_a_setup_link'],
  sign_in_link_closed: ['sign_in.link_closed.sign_in_link', 'sign_in.link_closed.ask_for_a_sign_in_link'],
} as const;

const isClosing = (reason: string): reason is keyof typeof links => Object.hasOwn(links, reason);

/**
 * Answers a link that does not work with one page, whether it was used, has expired, was revoked or never existed:
 * what such a link is, and how to get another. Without a token there is no link, and the refusal stays as it is.
 */
export async function orLinkClosed(token: string, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (token === '' || !isDomainError(error) || !isClosing(error.reason)) throw error;
    const [reason, way] = links[error.reason];
    return page('sign-in/link-closed', { reason: t(reason), way: t(way) }, { status: 404 });
  }
}
