export function installWhenNeeded(wanted?: { tests?: boolean }): Promise<void>
export function isInstalled(wanted?: { folder?: string; tests?: boolean }): Promise<boolean>
