import { contains as containsText, readKeysetPage, selectRows } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import type { EmailAddressRow } from '../schema/email-address-schema.ts';

/**
 * The verified addresses of all users, sorted, in pages. For administrators: the caller checks access.
 * @param contains only those that contain this, ignoring case
 */
export function listVerifiedAddresses(
  { db }: AccountsDeps,
  { contains = '', ...paging }: KeysetPaging & { contains?: string },
): Promise<KeysetPage<EmailAddressRow>> {
  const wanted = contains.trim().toLowerCase();
  return readKeysetPage(
    paging,
    ({ addressKey }: EmailAddressRow) => addressKey,
    ({ key, isBackwards, limit }) => {
      const conditions = [
        'e.verified_at IS NOT NULL',
        // Always a range, so that an index serves it from the first page on.
        `e.address_key ${isBackwards ? '<' : '>'} :key`,
        ...(wanted === '' ? [] : [containsText('e.address_key', ':wanted')]),
      ];
      return selectRows(
        db.read,
        emailAddressSchema,
        `SELECT e.* FROM email_addresses e WHERE ${conditions.join(' AND ')}
         ORDER BY e.address_key ${isBackwards ? 'DESC' : 'ASC'} LIMIT :limit`,
        { key: key ?? (isBackwards ? '\u{10ffff}' : ''), ...(wanted !== '' && { wanted }), limit },
      );
    },
  );
}
