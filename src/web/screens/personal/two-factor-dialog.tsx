import { Box, Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { QrCode } from './qr-code.tsx'
import styles from './security.module.css'
import { securityTexts } from './security-texts.ts'

interface TwoFactorDialogProps {
  readonly secret: { readonly secret: string; readonly uri: string }
  readonly onClose: () => void
  /** With the backup codes. */
  readonly onDone: (codes: readonly string[]) => void
}

/** Shows the secret for an authenticator app, and asks for its first code. */
export function TwoFactorDialog({ secret: { secret, uri }, onClose, onDone }: TwoFactorDialogProps) {
  const say = useText(securityTexts)
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (text) => (text.trim() === '' ? say('codeMissing') : null) },
  })
  const confirm = useWrite('POST /api/user/two_factor/confirm', {
    invalidates: ['GET /api/user/security'],
    onSuccess: onDone,
    onFailure: (cause) => {
      if (!(cause instanceof ApiError) || cause.code !== 'second_factor_wrong') return false
      form.setFieldError('code', cause.message)
      return true
    },
  })

  return (
    <Dialog title={say('setUpTitle')} size="md" onClose={onClose}>
      <form onSubmit={form.onSubmit(({ code }) => confirm.mutate({ body: { code: code.trim() } }))} noValidate>
        <Stack gap="sm">
          <Box component="p" m={0}>
            {say('scan')}
          </Box>
          <div className={styles.qr}>
            <QrCode text={uri} label={say('scanLabel')} />
          </div>
          <p className={shared.hint}>{say('byHand')}</p>
          <div className={styles.secret}>
            <CopyText text={secret}>
              <code>{secret.match(/.{1,4}/g)?.join(' ')}</code>
            </CopyText>
          </div>
          <Box component="p" m={0}>
            {say('enterCode')}
          </Box>
          <TextInput
            data-autofocus
            label={say('code')}
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={10}
            {...form.getInputProps('code')}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={confirm.isPending}>
              {say('confirm')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
