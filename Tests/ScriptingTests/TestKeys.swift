/// Keys made for these tests with openssl; they guard nothing.
enum TestKeys {
    /// PKCS#1, as `utils.crypto` takes them.
    static let rsa = (
        secret: """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAy28qIUsJdsS3Yt6lP9YzB1OVGi0R9C+MlMCYgm8yLDtv2q3h
        ADzDs6g709AAxuq/p3NWQo+wUxWxQEILDr5RlVdM0Q0YCSKcCGaibIIhql7t6sMC
        DRZzXr+Q8n+InAak5bSR3XjHod+oTbDUN7ZPwnGdPH43EuIM5HF62MjkjGMkN2Rn
        wdNRt2vxaGNZcPk/FSHeS0sjBzYVG+JVQGD5170JKNNKNgXUCUB/5KeVaatJKr0S
        QHTTxdOH7a/CI1BeJhQ7gNDFTjxrSzE9Bl12SfpJn5uDqrzC6F3wSRQj9jSk4gBj
        m11BOA6nTn0k+Zb/L74Cy5fZbZR8se92V7a97QIDAQABAoIBABVUQitL8gHTFbQm
        ylYjV+XOgF1GePGsc5WcDNFuJalIEQ3xOZw8ArvJKX6nehFhBvegSty/Mno/lb46
        Pm0NDMI27T2k3Q6GI6xo0GJGkY+KlPDOgd5L6ow2UxTtxK2xL6RK1plNIscoyz1c
        CyANPBcTsOvpAs62xynDcSEeDQJf6Z0MCWv1Z8dRXDk4PlTZNOMXAZ93tkVdC1sv
        wUUb3ejQcDJigBbwejLwmHt8VJZmo//Xim0ZM87wbdI5ix03OU3Yl4IwcPmSZnUo
        BmXsVKAcGi2xewolF4Y76UV0s4eUoBisnrdWS/hSsoAP3rXO0cL/Z/sF50kzvqyL
        HYQiTZkCgYEA+dZA8dPKrtn4D3I33zzmxuzuX9NekN0OojpdPMPSizY3mUxgRoMc
        93OlZYBrbJ8NDyGZHRJ26Ftj+iUV5ZtRNboGHfkwfOyZxQPzMvuRUvjMTOXvRPzx
        DUQjVPneIaTtXmnHmWCC8gfEAdSBVIhnH1kGXLlPY71zlnHP+iJfV1kCgYEA0HPf
        fw7RFkJimnQnkEGFOHJFeydQ7Bl4UMXtXC/ghGtbDpvw+I+1eGBWInH9XEfpwk/e
        66CgO1g+4wySUq5gi8+eQfAO91tfHuULLovdW6knHwl4gVhVVFVjCg9TeskqJw91
        EOhNAH0eMkmtBlrxlB8QSH6cdke5jdIABQr6XLUCgYA0waB/MFj5aT+vi0/vDP4y
        fW+svoaWkod3jFmJ7lP0X6OH9I/T8/XW7w27DE4i5scsLc0WTYLceAf5l4EzNgQF
        E14dUDSD/LZP2xCs8GB0o+MITfmjmMISKhRH6meUtS4GpNGoOrAMCcXDGSuiPReB
        kBv+0obIKgZRe4EOcdmuKQKBgQC4uyeCsz/KiTRXCr8REW+dcW9vz4zgX0YH1xAe
        FXPUBkvg64Om07yPnFhZGEne4QAhKqU0jdnSHcdFcZuu2EhJPspSRwsMXRY0C+lX
        661VENfRopP/lKeyICWwAZsKgoHvsbweKrAq0bbT/ATxT+EtUkYc6M+B5thi/Yr0
        7SCozQKBgEs+tj8+iHxOg43bh0d1JFzNzgzV8yAmIVPYndur4/8YtgV+XY9JobAe
        +Ag3Tppp1mqz+M1ZOxLku+hRQ+/mAjmPW/djBV3yO1kAR4AxL5WMv8LtAZmvXXJe
        Y8YDkG4wLIRBjY7wLOk+vdFN0+8oBoZn9t8uVFXN2Pojp4uTvnex
        -----END RSA PRIVATE KEY-----
        """,
        known: """
        -----BEGIN RSA PUBLIC KEY-----
        MIIBCgKCAQEAy28qIUsJdsS3Yt6lP9YzB1OVGi0R9C+MlMCYgm8yLDtv2q3hADzD
        s6g709AAxuq/p3NWQo+wUxWxQEILDr5RlVdM0Q0YCSKcCGaibIIhql7t6sMCDRZz
        Xr+Q8n+InAak5bSR3XjHod+oTbDUN7ZPwnGdPH43EuIM5HF62MjkjGMkN2RnwdNR
        t2vxaGNZcPk/FSHeS0sjBzYVG+JVQGD5170JKNNKNgXUCUB/5KeVaatJKr0SQHTT
        xdOH7a/CI1BeJhQ7gNDFTjxrSzE9Bl12SfpJn5uDqrzC6F3wSRQj9jSk4gBjm11B
        OA6nTn0k+Zb/L74Cy5fZbZR8se92V7a97QIDAQAB
        -----END RSA PUBLIC KEY-----
        """
    )

    /// PKCS#8.
    static let p256 = (
        secret: """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbNzbipFaais/Gapj
        0lkdebzjfJbvkN5T5/hbSpoaC86hRANCAATRGvQK72lw2CJVyNo/GasrDD7lhHkF
        cXV66EH1MorfkF6dv3UUUI4qLve5IkEG+sUXnrcPJn3KrbLVhqrO7Vok
        -----END PRIVATE KEY-----
        """,
        known: """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE0Rr0Cu9pcNgiVcjaPxmrKww+5YR5
        BXF1euhB9TKK35Benb91FFCOKi73uSJBBvrFF563DyZ9yq2y1Yaqzu1aJA==
        -----END PUBLIC KEY-----
        """
    )
}
