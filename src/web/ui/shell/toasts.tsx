import '@mantine/notifications/styles.layer.css'
import { Notifications } from '@mantine/notifications'
import styles from './shell.module.css'

/** Shows the messages of `lib/toast.ts`. */
export function Toasts() {
  return <Notifications position="top-center" limit={4} className={styles.toasts ?? ''} />
}
