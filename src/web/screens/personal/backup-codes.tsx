import { Box, Button, Group, Stack } from '@mantine/core'
import { IconCopy, IconDownload } from '@tabler/icons-react'
import { saveFile } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { copyText } from '../../ui/view/copy-text.tsx'
import styles from './security.module.css'
import { securityTexts } from './security-texts.ts'

/** Shows new backup codes; they cannot be shown again. */
export function BackupCodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const say = useText(securityTexts)
  const text = codes.join('\n')
  return (
    <Dialog title={say('codesTitle')} size="md" onClose={onClose}>
      <Stack gap="sm">
        <Box component="p" m={0}>
          {say('codesBody')}
        </Box>
        <ul className={styles.codes}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            leftSection={<IconCopy size={16} aria-hidden="true" />}
            onClick={() => void copyText(text, say('codesCopied'))}
          >
            {say('codesCopy')}
          </Button>
          <Button
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden="true" />}
            onClick={() => saveFile('backup-codes.txt', `${text}\n`)}
          >
            {say('codesFile')}
          </Button>
          <Button onClick={onClose}>{say('codesDone')}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
