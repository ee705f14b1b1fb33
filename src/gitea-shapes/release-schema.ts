import { z } from 'zod';
import { giteaUser } from './user-schema.ts';

const time = z.iso.datetime();

/** A release file in Gitea's form, with its digest. */
export const releaseFile = z
  .strictObject({
    id: z.int(),
    uuid: z.uuid(),
    name: z.string(),
    size: z.int().describe('Size in bytes'),
    download_count: z.int(),
    created_at: time,
    browser_download_url: z.url(),
    type: z.literal('attachment'),
    digest: z.string().describe('SHA-256 in hexadecimal, prefixed with sha256:'),
  })
  .meta({ id: 'ReleaseFile' });

export const release = z
  .strictObject({
    id: z.int(),
    tag_name: z.string(),
    target_commitish: z.string().describe('Target of the tag that publishing a draft creates'),
    name: z.string().describe('Title; the tag name if there is none'),
    body: z.string(),
    url: z.url(),
    html_url: z.url(),
    tarball_url: z.url(),
    zipball_url: z.url(),
    upload_url: z.url(),
    draft: z.boolean(),
    prerelease: z.boolean(),
    created_at: time,
    published_at: time.describe('For a draft, the creation time'),
    author: giteaUser,
    assets: z.array(releaseFile),
  })
  .meta({ id: 'Release' });
