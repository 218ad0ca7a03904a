import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useStatus } from '../../lib/status.ts'
import { Dialog } from '../dialog/dialog.tsx'
import shared from '../shared.module.css'
import styles from './outside.module.css'

interface WechatDialogProps {
  /** Texts of the screen that opens the dialog. */
  readonly words: { title: string; hint: string; qr: string; code: string; missing: string; submit: string }
  readonly busy: boolean
  readonly error?: string | undefined
  readonly onCode: (code: string) => void
  readonly onClose: () => void
}

/** Shows the WeChat account to follow, and takes the code that it sends. */
export function WechatDialog({ words, busy, error, onCode, onClose }: WechatDialogProps) {
  const { wechat_qrcode: image } = useStatus()
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (text) => (text.trim() === '' ? words.missing : null) },
  })
  const { error: own, ...code } = form.getInputProps('code')

  return (
    <Dialog title={words.title} size="md" onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => onCode(values.code.trim()))} noValidate>
        <Stack gap="sm">
          {image && <img className={styles.qr} src={image} alt={words.qr} referrerPolicy="no-referrer" />}
          <p className={shared.hint}>{words.hint}</p>
          <TextInput data-autofocus label={words.code} autoComplete="one-time-code" error={own ?? error} {...code} />
          <Group justify="flex-end">
            <Button type="submit" loading={busy}>
              {words.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
