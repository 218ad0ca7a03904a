import type { InterfaceVersions } from '../define-format.ts'
import { textAt } from '../wire-format.ts'
import { isClaude } from './models.ts'

/** The version of requests that are written here: every host of Messages accepts it, or has one of its own for it. */
export const olderVersion = '2023-06-01'
export const newerVersion = '2026-10-21'

/**
 * Anthropic's dated versions. The newer one removed the sampling parameters: Claude refuses them at any value, and so they are never
 * added to a request of that version. Hosts of other vendors do not read the version. Source: protocols notes 1.12.
 */
export const messagesVersions: InterfaceVersions = {
  header: 'anthropic-version',
  refused(body, { model, version }) {
    return isClaude(model) && removesSampling(textAt(body, 'anthropic_version') || version) ? samplingMembers : []
  },
}

const samplingMembers = ['temperature', 'top_p', 'top_k'] as const

/** Whether a version has no sampling parameters. The versions of clouds (`bedrock-2023-05-31`) are older, as is a missing one. */
export function removesSampling(version = ''): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(version) && version >= newerVersion
}
