import { bindDeps } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { withLog } from '../with-log.ts';
import { addAddress, sendVerification } from './add-address.ts';
import { authorKeyOf, authorKeysOf } from './author-identity.ts';
import { removeAddress, setAddressPublic, setPrimaryAddress } from './change-address.ts';
import type { EmailAddress } from './email-address.ts';
import { commitIdentityOf, identityOrServer, serverIdentity } from './commit-identity.ts';
import { listVerifiedAddresses } from './list-verified-addresses.ts';
import { listAddresses, primaryAddressesOf, primaryAddressOf, publicAddressesOf } from './find-addresses.ts';
import { peopleByAddress } from './people-by-address.ts';
import { checkVerification, verifyAddress, markAddressVerified } from './verify-address.ts';

/** E-mail addresses of users; the functions behind the names document their behaviour and errors. */
export function createAddresses(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  const fields = ({ id, address }: EmailAddress, personId: string) => ({ personId, addressId: id, email: address });
  const logged = <More>(
    event: string,
    useCase: (deps: AccountsDeps, personId: string, more: More) => Promise<EmailAddress>,
  ) => withLog<[string, More], EmailAddress>(deps, event, bind(useCase), fields);

  return {
    /** Whether links can be sent; without mail, administrators verify addresses. */
    canSendLinks: deps.mail.isConfigured,
    list: bind(listAddresses),
    add: logged('address.added', addAddress),
    sendVerification: bind(sendVerification),
    checkVerification: bind(checkVerification),
    verify: logged('address.verified', verifyAddress),
    markVerified: logged('address.vouched', markAddressVerified),
    setPrimary: logged('address.primary_set', setPrimaryAddress),
    setPublic: withLog(
      deps,
      (_personId: string, _addressId: string, isPublic: boolean) => (isPublic ? 'address.published' : 'address.hidden'),
      bind(setAddressPublic),
      fields,
    ),
    remove: logged('address.removed', removeAddress),
    primaryOf: bind(primaryAddressOf),
    primariesOf: bind(primaryAddressesOf),
    publicOf: bind(publicAddressesOf),
    noReplyOf: deps.noReply.of,
    commitIdentityOf: bind(commitIdentityOf),
    identityOrServer: bind(identityOrServer),
    /** Author of commits that the server creates for its command line. */
    serverIdentity: serverIdentity(deps.noReply),
    listVerified: bind(listVerifiedAddresses),
    peopleByAddress: bind(peopleByAddress),
    authorKeyOf: bind(authorKeyOf),
    authorKeysOf: bind(authorKeysOf),
  };
}
