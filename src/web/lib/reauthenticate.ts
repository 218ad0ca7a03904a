/** Sensitive calls need a recent authentication; the server answers `fresh_login_required` when it is too old. */

type Asker = () => Promise<boolean>
let ask: Asker = async () => false
let asking: Promise<boolean> | undefined

/** Registers the dialog that asks the user to authenticate again. */
export function onReauthentication(asker: Asker): void {
  ask = asker
}

/** Whether the user authenticated again. Concurrent calls share one dialog. */
export function reauthenticate(): Promise<boolean> {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}
