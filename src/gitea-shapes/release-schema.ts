import { z } from 'zod';
import { giteaUser } from './user-schema.ts';

const time = z.iso.datetime();

/** A release file in Gitea's form, with its digest. */
export const releaseFile = z
  .strictObject({
    id: z.int(),
    uuid: z.uuid(),
    name: z.string(),
    size: z.int().describe('In bytes'),
    download_count: z.int(),
    created_at: time,
    browser_download_url: z.url(),
    type: z.literal('attachment'),
    digest: z.string().describe('sha256: and the SHA-256 in hex'),
  })
  .meta({ id: 'ReleaseFile' });

export const release = z
  .strictObject({
    id: z.int(),
    tag_name: z.string(),
    target_commitish: z.string().describe('Where the tag of a draft will be made'),
    name: z.string().describe('The tag, where it has no title'),
    body: z.string(),
    url: z.url(),
    html_url: z.url(),
    tarball_url: z.url(),
    zipball_url: z.url(),
    upload_url: z.url(),
    draft: z.boolean(),
    prerelease: z.boolean(),
    created_at: time,
    published_at: time.describe('Of a draft when it was made'),
    author: giteaUser,
    assets: z.array(releaseFile),
  })
  .meta({ id: 'Release' });
