import { useStatus } from './status.ts'

/** Where clients reach this gateway, without a slash at the end. */
export function useServerAddress(): string {
  return (useStatus().server_address || window.location.origin).replace(/\/+$/, '')
}
