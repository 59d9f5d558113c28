;;; ptx-mode.el --- NVIDIA PTX with a language server -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))

;;; Commentary:

;; A mode for `.ptx' files.  With `ptx-cli' on the PATH, `M-x eglot' finds the server; lsp-mode does too where it is
;; installed.  In CUDA C++ (`cuda-mode' or `c++-mode'), `M-x eglot' with a prefix argument takes `ptx-cli lsp' as well.

;;; Code:

(defvar ptx-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?% "_" table)
    (modify-syntax-entry ?$ "_" table)
    (modify-syntax-entry ?. "_" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?\" "\"" table)
    table)
  "Syntax of PTX: `//' and `/* */' comments; `%r1' and `ld.global' are one symbol.")

(defvar ptx-mode-keywords
  `((,(rx symbol-start "." (or "version" "target" "address_size" "file" "loc" "section" "pragma" "alias"
                               "branchtargets" "calltargets" "callprototype" "maxntid" "reqntid" "minnctapersm"
                               "maxnreg" "noreturn"))
     . font-lock-preprocessor-face)
    (,(rx (group "." (or "entry" "func")) (+ space) (group (+ (any alnum "_$"))))
     (1 font-lock-keyword-face) (2 font-lock-function-name-face))
    (,(rx symbol-start "." (or "reg" "sreg" "const" "global" "local" "param" "shared" "visible" "extern" "weak"
                               "common" "entry" "func" "align"))
     . font-lock-keyword-face)
    (,(rx symbol-start "." (or "pred" (seq (any "busf") (+ digit) (? "x2"))) symbol-end)
     . font-lock-type-face)
    (,(rx line-start (* space) (group (+ (any alnum "_$"))) ":") (1 font-lock-constant-face))
    (,(rx symbol-start "%" (+ (any alnum "_$"))) . font-lock-variable-name-face)
    (,(rx line-start (* space) (? "@" (? "!") (+ (any alnum "%_$")) (+ space))
          (group (any "a-z") (* (any alnum "_:."))))
     (1 font-lock-builtin-face)))
  "What `ptx-mode' colours without a server.")

;;;###autoload
(define-derived-mode ptx-mode prog-mode "PTX"
  "A mode for NVIDIA PTX."
  :syntax-table ptx-mode-syntax-table
  (setq-local comment-start "// "
              comment-end ""
              comment-start-skip "\\(//+\\|/\\*+\\)\\s *"
              tab-width 8
              indent-tabs-mode t
              font-lock-defaults '(ptx-mode-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.ptx\\'" . ptx-mode))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs '(ptx-mode . ("ptx-cli" "lsp"))))

(with-eval-after-load 'lsp-mode
  (defvar lsp-language-id-configuration)
  (declare-function lsp-register-client "ext:lsp-mode")
  (declare-function make-lsp-client "ext:lsp-mode")
  (declare-function lsp-stdio-connection "ext:lsp-mode")
  (declare-function lsp-activate-on "ext:lsp-mode")
  (add-to-list 'lsp-language-id-configuration '(ptx-mode . "ptx"))
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection '("ptx-cli" "lsp"))
                    :activation-fn (lsp-activate-on "ptx")
                    :server-id 'ptx-cli)))

(provide 'ptx-mode)
;;; ptx-mode.el ends here
